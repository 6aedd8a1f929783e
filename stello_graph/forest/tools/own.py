"""A tool of the server itself, out of a typed function."""

from collections.abc import Callable
from typing import Any

from stello_graph.forest.tools.function import ToolFunction
from stello_graph.forest.tools.port import CallContext
from stello_graph.model.context import Conversation, ToolSpec

__all__ = ["OwnTool"]


class OwnTool:
    """See ServerTool. The function's parameter of type CallContext gets the context."""

    def __init__(
        self,
        name: str,
        function: Callable[..., Any],
        offered: Callable[[Conversation], bool] = lambda _: True,
    ) -> None:
        self.name = name
        self._function = ToolFunction(function, CallContext)
        self._offered = offered
        self.general = ToolSpec(
            name=name, description=self._function.description, input_schema=self._function.schema
        )

    def spec(self, conversation: Conversation) -> ToolSpec | None:
        """See ServerTool."""
        return self.general if self._offered(conversation) else None

    async def run(self, arguments: Any, context: CallContext) -> object:
        """See ServerTool."""
        return await self._function(arguments, context)
