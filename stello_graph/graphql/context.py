"""What resolvers get: who asks, the service of their Space, and loaders."""

from collections.abc import Mapping
from typing import Any

from strawberry.types import Info as StrawberryInfo

from stello_graph.errors import Forbidden, Unauthenticated
from stello_graph.graphql.loaders import Loaders
from stello_graph.model.values import KeyScope, Viewer
from stello_graph.service import SpaceService, StelloGraph

__all__ = ["Context", "Info"]

_RANK = {KeyScope.READ: 0, KeyScope.WRITE: 1, KeyScope.ADMIN: 2}


class Context:
    """The context of one request, or of one WebSocket.

    Attributes:
        connection_params: payload of a WebSocket's connection_init, None until it came.
    """

    def __init__(self, graph: StelloGraph, viewer: Viewer | None) -> None:
        self.graph = graph
        self.connection_params: Mapping[str, Any] | None = None
        self._viewer = viewer
        self._space: SpaceService | None = None
        self._loaders: Loaders | None = None

    @property
    def known_viewer(self) -> Viewer | None:
        """Who asks, None as long as nobody knows."""
        return self._viewer

    @property
    def viewer(self) -> Viewer:
        """Who asks. Raises Unauthenticated."""
        if self._viewer is None:
            raise Unauthenticated("valid credentials are needed")
        return self._viewer

    @viewer.setter
    def viewer(self, viewer: Viewer) -> None:
        self._viewer = viewer

    def space(self, scope: KeyScope = KeyScope.READ) -> SpaceService:
        """The service of the caller's Space. Raises Forbidden where the caller's scope is smaller."""
        viewer = self.viewer
        if viewer.space_id is None or _RANK.get(viewer.scope, -1) < _RANK[scope]:
            raise Forbidden(f"this needs the scope {scope}")
        if self._space is None:
            self._space = self.graph.space(viewer.space_id)
        return self._space

    def operator(self) -> StelloGraph:
        """The service that belongs to no Space. Raises Forbidden for all but operators."""
        if self.viewer.scope is not KeyScope.OPERATOR:
            raise Forbidden(f"this needs the scope {KeyScope.OPERATOR}")
        return self.graph

    @property
    def loaders(self) -> Loaders:
        """The loaders of the caller's Space."""
        if self._loaders is None:
            self._loaders = Loaders(self.space().store)
        return self._loaders

    def forget_loaders(self) -> None:
        """Lets go of what was read; the executor is part of a cycle that would keep it long after the answer."""
        self._loaders = None


class Info(StrawberryInfo[Context, None]):
    """The info of our resolvers."""
