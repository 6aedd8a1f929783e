"""Tools of applications: a typed function that the model can call."""

import asyncio
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

from stello_graph.errors import InvalidInput
from stello_graph.forest.tools.function import ToolFunction
from stello_graph.forest.tools.port import CallContext, ServerTool, ToolOutput
from stello_graph.model.context import Conversation, ToolSpec
from stello_graph.service import SpaceService, StelloGraph

__all__ = ["Tool", "ToolContext", "ToolOutput"]

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")


@dataclass(frozen=True, slots=True)
class ToolContext:
    """Where a tool is called; a parameter of this type gets it.

    Attributes:
        space: everything that can be done inside the caller's Space.
        session_id: the session whose turn calls the tool. To send to it is refused: it waits for the tool.
        cancelled: set when the turn is to stop. A tool that goes on for a second more is cut off.
    """

    space: SpaceService
    session_id: str
    turn_id: str
    tool_call_id: str
    cancelled: asyncio.Event


class Tool:
    """A tool out of a typed function.

        async def weather(city: str, context: ToolContext) -> str:
            '''Tells today's weather in a city.'''

        Tool(weather)

    The parameters and their types make the schema that the model sees (`Annotated[str, Field(description=…)]`
    describes one), the docstring the description. The function returns a text, what JSON can hold, or a
    ToolOutput; what it raises becomes an error result with the error's message. A function that is not
    asynchronous runs in a thread.
    """

    def __init__(
        self,
        fn: Callable[..., Any],
        *,
        name: str | None = None,
        description: str | None = None,
        needs_confirmation: bool = False,
        annotations: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        """
        Args:
            fn: the function.
            name: instead of the function's; letters, digits, `_` and `-`, 64 at most.
            description: instead of the docstring.
            needs_confirmation: whether each call waits for `confirmToolCall`.
            annotations: hints for front-ends, such as `readOnlyHint` or `title`.

        Raises:
            InvalidInput: the function or the name cannot be a tool's.
        """
        self._function = ToolFunction(fn, ToolContext)
        given = str(getattr(fn, "__name__", "") if name is None else name)
        if not _NAME.fullmatch(given):
            raise InvalidInput(f'a tool cannot be named "{given}": use 1 to 64 of letters, digits, _ and -')
        self.spec = ToolSpec(
            name=given,
            description=self._function.description if description is None else description,
            input_schema=self._function.schema,
            needs_confirmation=needs_confirmation,
            annotations=dict(annotations),
        )

    def bind(self, graph: StelloGraph) -> ServerTool:
        """The tool inside one service."""
        return _BoundTool(graph, self.spec, self._function)


class _BoundTool:
    def __init__(self, graph: StelloGraph, spec: ToolSpec, function: ToolFunction) -> None:
        self.name = spec.name
        self.general = spec
        self._graph = graph
        self._function = function

    def spec(self, _conversation: Conversation) -> ToolSpec:
        """See ServerTool."""
        return self.general

    async def run(self, arguments: Any, context: CallContext) -> object:
        """See ServerTool."""
        given = ToolContext(
            space=self._graph.space(context.store.space_id),
            session_id=context.session_id,
            turn_id=context.turn_id,
            tool_call_id=context.tool_call_id,
            cancelled=context.cancelled,
        )
        return await self._function(arguments, given)
