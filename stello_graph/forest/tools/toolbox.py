"""The tools of a server: which a conversation has, and how they run without ever breaking a turn."""

import asyncio
import logging
import math
import time
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import orjson
from pydantic import BaseModel

from stello_graph.errors import InvalidInput, StelloError
from stello_graph.forest.tools.port import CallContext, ServerTool, ToolOutput
from stello_graph.ids import new_id
from stello_graph.model.context import Conversation, ToolSpec
from stello_graph.model.message import Draft, MessageRole, ToolCall
from stello_graph.session.context.text import storable

__all__ = ["Toolbox", "result_of"]

_LONGEST_MESSAGE = 4_000

logger = logging.getLogger(__name__)


class Toolbox:
    """All tools of one server."""

    def __init__(
        self,
        tools: Iterable[ServerTool] = (),
        *,
        seconds: float = 300.0,
        limit: int = 2**20,
        strays: set[asyncio.Task[Any]] | None = None,
    ) -> None:
        """
        Args:
            tools: each name once.
            seconds: how long a tool may take.
            limit: how many bytes a result may have.
            strays: where tasks are kept of tools that were told to stop and do not listen.

        Raises:
            InvalidInput: two tools have one name.
        """
        self._tools: dict[str, ServerTool] = {}
        for tool in tools:
            if tool.name in self._tools:
                raise InvalidInput(f'there are two tools named "{tool.name}"')
            self._tools[tool.name] = tool
        self._seconds = seconds
        self._limit = limit
        self._strays = set() if strays is None else strays

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """All, whether a conversation has them or not."""
        return tuple(tool.general for tool in self._tools.values())

    def offered(self, conversation: Conversation) -> tuple[ToolSpec, ...]:
        """What the model is told of in this conversation."""
        specs = (tool.spec(conversation) for tool in self._tools.values())
        return tuple(spec for spec in specs if spec is not None)

    async def run(self, call: ToolCall, offered: Sequence[ToolSpec], context: CallContext) -> Draft:
        """Runs a call; whatever the tool does, a result comes of it, in time.

        Raises:
            CancelledError: this task was cancelled, and the tool is gone.
        """
        began = time.monotonic()
        if call.name in (spec.name for spec in offered):
            output = await self._output(call, context)
        else:
            known = ", ".join(spec.name for spec in offered)
            output = ToolOutput(content=f"Unknown tool {call.name}. Known tools: {known}", is_error=True)
        took = math.ceil(1_000 * (time.monotonic() - began))
        return result_of(call, output, turn_id=context.turn_id, duration_ms=took)

    async def _output(self, call: ToolCall, context: CallContext) -> ToolOutput:
        running = asyncio.create_task(self._attempt(call, context))
        try:
            await asyncio.wait({running}, timeout=self._seconds)
        except asyncio.CancelledError:
            self._leave(running)
            raise
        if running.done():
            return running.result()
        self._leave(running)
        return _failure(f"The tool {call.name} did not answer within {self._seconds:g} s.")

    async def _attempt(self, call: ToolCall, context: CallContext) -> ToolOutput:
        """The tool's output, or what went wrong. A tool that cancels itself or exits has failed too."""
        try:
            given = await self._tools[call.name].run(call.arguments, context)
            return self._checked(call.name, given)
        except StelloError as error:
            return _failure(error.message)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return _failure(f"The tool {call.name} was cancelled.")
        except (Exception, SystemExit) as error:
            logger.warning("tool %s failed in turn %s", call.name, context.turn_id, exc_info=True)
            return _failure(f"The tool {call.name} failed: {str(error) or type(error).__name__}")

    def _checked(self, name: str, given: object) -> ToolOutput:
        output = given if isinstance(given, ToolOutput) else ToolOutput(content=_text(name, given))
        size, parts = len(output.content.encode("utf-8", "surrogatepass")), output.parts
        if parts is not None:
            form = _json(name, parts)
            size, parts = size + len(form), orjson.loads(form)
        if size > self._limit:
            return _failure(f"The tool {name} returned {size} bytes; {self._limit} are allowed.")
        return output.model_copy(update={"content": storable(output.content), "parts": parts})

    def _leave(self, running: asyncio.Task[ToolOutput]) -> None:
        """Cancels a tool without waiting for it: it may not listen."""
        running.cancel()
        self._strays.add(running)
        running.add_done_callback(self._strays.discard)


def result_of(call: ToolCall, output: ToolOutput, *, turn_id: str, duration_ms: int | None = None) -> Draft:
    """The message that answers a call."""
    return Draft(
        id=new_id(),
        role=MessageRole.TOOL,
        content=output.content,
        parts=output.parts,
        tool_call_id=call.id,
        tool_name=call.name,
        is_error=output.is_error,
        duration_ms=duration_ms,
        turn_id=turn_id,
    )


def _failure(message: str) -> ToolOutput:
    return ToolOutput(content=storable(message[:_LONGEST_MESSAGE]), is_error=True)


def _text(name: str, given: object) -> str:
    match given:
        case None:
            return ""
        case str():
            return given
        case bytes() | bytearray() | memoryview():
            raise InvalidInput(f"The tool {name} returned bytes; a tool returns text, JSON or a ToolOutput.")
        case _:
            return _json(name, given).decode()


def _json(name: str, value: object) -> bytes:
    try:
        return orjson.dumps(value, default=_plain, option=orjson.OPT_NON_STR_KEYS)
    except TypeError as error:
        raise InvalidInput(f"The tool {name} returned what JSON cannot hold: {error}") from error


def _plain(value: object) -> object:
    match value:
        case BaseModel():
            return value.model_dump(mode="json")
        case set() | frozenset() | Mapping():
            return list(value)
        case _:
            raise TypeError(type(value).__name__)
