"""The map, as storage gives it."""

from collections.abc import Sequence
from typing import Protocol

from stello_graph.model.parts import Only
from stello_graph.model.topology import ChildrenPage, NodeWithAncestors, StarMap, TopologyNode

__all__ = ["TopologyStore"]


class TopologyStore(Protocol):
    """The nodes of one Space. A node that does not exist raises NotFound where it is written to.

    Where lists take `only`, nodes of these fields alone are read and given.
    """

    async def nodes(self, ids: Sequence[str]) -> dict[str, TopologyNode]:
        """The nodes that exist, by id."""
        ...

    async def nodes_with_ancestors(self, ids: Sequence[str]) -> dict[str, NodeWithAncestors]:
        """The nodes that exist, by id, each with its ancestors."""
        ...

    async def children(
        self,
        parent_ids: Sequence[str | None],
        *,
        after: int,
        first: int,
        only: Only | None = None,
        below: ChildrenPage | None = None,
    ) -> dict[str | None, list[TopologyNode] | None]:
        """By parent (None: the roots), a page by index; None for a parent that does not exist.

        Args:
            below: what to read with each of them, two levels at most: they are NodeWithChildren then.
        """
        ...

    async def ancestors(
        self, ids: Sequence[str], *, only: Only | None = None
    ) -> dict[str, list[TopologyNode]]:
        """By node, its ancestors, the root first."""
        ...

    async def siblings(
        self, ids: Sequence[str], *, after: int, first: int, only: Only | None = None
    ) -> dict[str, list[TopologyNode]]:
        """By node, a page of its siblings by index."""
        ...

    async def refs(
        self, ids: Sequence[str], *, first: int, offset: int, only: Only | None = None
    ) -> dict[str, list[TopologyNode]]:
        """By node, what it refers to, in the order of insertion."""
        ...

    async def referenced_by(
        self, ids: Sequence[str], *, first: int, offset: int, only: Only | None = None
    ) -> dict[str, list[TopologyNode]]:
        """By node, what refers to it, in the order of insertion."""
        ...

    async def add_ref(self, from_id: str, to_id: str, *, of_archived: bool = False) -> TopologyNode:
        """Links two nodes.

        Args:
            of_archived: whether also from an archived one, which an import makes as such.

        Raises:
            InvalidInput: to itself, an ancestor or a descendant.
            SessionArchived: the one that it would go from is archived.
        """
        ...

    async def remove_ref(self, from_id: str, to_id: str) -> TopologyNode:
        """Nothing happens where there is no such link."""
        ...

    async def star_map(
        self, root_id: str | None, *, max_depth: int | None, max_nodes: int, include_archived: bool
    ) -> StarMap:
        """The map, or the part of it below `root_id`."""
        ...
