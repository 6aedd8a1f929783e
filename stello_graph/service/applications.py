"""What an application that embeds the service may bring."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from stello_graph.forest.functions import Functions
from stello_graph.forest.tools.port import ServerTool
from stello_graph.ports import LLM

if TYPE_CHECKING:
    from stello_graph.service.graph import StelloGraph

__all__ = ["ApplicationTool", "SpaceAgent"]


class ApplicationTool(Protocol):
    """A tool that an application brings: see `stello_graph.Tool`."""

    def bind(self, graph: "StelloGraph") -> ServerTool:
        """The tool inside one service."""
        ...


@dataclass(frozen=True, kw_only=True)
class SpaceAgent:
    """What an application gives one Space of its own; None takes the server's.

    Attributes:
        tools: beside those of the server.
        close: called once nobody uses this any more, such as to close the model client.
    """

    llm: LLM | None = None
    tools: Sequence[ApplicationTool] = ()
    functions: Functions | None = None
    close: Callable[[], Awaitable[object]] | None = None
