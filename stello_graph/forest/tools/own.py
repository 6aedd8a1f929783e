"""A tool of the server itself, out of a typed function."""

import logging
from collections.abc import Callable
from typing import Any

from stello_graph.errors import InternalError, StelloError
from stello_graph.forest.tools.function import ToolFunction
from stello_graph.forest.tools.port import CallContext
from stello_graph.model.context import Conversation, ToolSpec

__all__ = ["OwnTool"]

logger = logging.getLogger(__name__)


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
        """See ServerTool.

        Raises:
            InternalError: something unexpected, which the log has: its text may tell of the server's insides.
        """
        try:
            return await self._function(arguments, context)
        except StelloError:
            raise
        except Exception as error:
            logger.exception("tool %s failed in turn %s", self.name, context.turn_id)
            raise InternalError("an error of the server; its log has more") from error
