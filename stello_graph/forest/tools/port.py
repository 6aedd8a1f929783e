"""What the turn loop asks of a tool."""

import asyncio
from dataclasses import dataclass
from typing import Any, Protocol

from stello_graph.model.context import Conversation, ToolSpec
from stello_graph.model.values import Value
from stello_graph.ports import SpaceStore

__all__ = ["CallContext", "ServerTool", "ToolOutput"]


class ToolOutput(Value):
    """What a tool gives back to the model.

    Attributes:
        parts: blocks beside the text, such as images, in the form that the model takes.
    """

    content: str = ""
    parts: list[dict[str, Any]] | None = None
    is_error: bool = False


@dataclass(frozen=True, slots=True)
class CallContext:
    """Where a tool is called.

    Attributes:
        cancelled: set when the turn is to stop; a tool that goes on a second longer is cut off.
    """

    store: SpaceStore
    session_id: str
    turn_id: str
    tool_call_id: str
    cancelled: asyncio.Event


class ServerTool(Protocol):
    """A tool as the turn loop sees it."""

    @property
    def name(self) -> str:
        """Letters, digits, `_` and `-`, 64 at most."""
        ...

    @property
    def general(self) -> ToolSpec:
        """What it is, wherever it is offered."""
        ...

    def spec(self, conversation: Conversation) -> ToolSpec | None:
        """What the model is told of it in this conversation; None where it is not offered there."""
        ...

    async def run(self, arguments: Any, context: CallContext) -> object:
        """Runs once.

        Returns:
            A ToolOutput, a text, None, or what JSON can hold.
        """
        ...
