"""The last stage of rendering: whatever a transcript holds, the request that comes of it is legal."""

import json
from collections.abc import Iterator
from typing import Any

from stello_graph.model.context import ContextMessage, ContextOrigin
from stello_graph.model.message import ToolCall
from stello_graph.session.context.pairing import answers, is_result
from stello_graph.session.context.parts import other_than_text, replayable, text_of
from stello_graph.session.context.text import is_blank
from stello_graph.session.context.transcript import Transcript, user_input

__all__ = ["legal"]

NO_RESULT = "Cancelled: this call has no result."
NO_OUTPUT = "(no output)"
GO_ON = "Continue."

Results = tuple[ContextMessage, ...]


def legal(transcript: Transcript, tools: frozenset[str]) -> Transcript:
    """The same conversation as a provider takes it, given the names of the request's tools.

    - Each tool call is answered once, directly after its message and in its order. A result that
      strayed is brought back; a call without a result gets one that says so; a second result of a
      call and a result of no call are left out.
    - Call ids are unique: one that was used before gets a number behind it, with its result.
    - A group with a call to a tool that the request does not have is told as text, calls and results.
    - Nothing is blank. A message without text, calls and blocks is left out.
    - The last word is the user's or a tool's. Where it is not, the user says "Continue.".

    Messages that are in order pass unchanged.
    """
    clean = tuple(_clean(message) for message in transcript)
    messages = tuple(_ordered(clean, tools))
    ends_open = bool(messages) and messages[-1].role in ("user", "tool")
    return messages if ends_open else (*messages, user_input(GO_ON))


def _ordered(transcript: Transcript, tools: frozenset[str]) -> Iterator[ContextMessage]:
    answered = answers(transcript)
    ids = _Ids()
    for index, message in enumerate(transcript):
        if message.tool_calls:
            places = [answered.get((index, number)) for number in range(len(message.tool_calls))]
            results = tuple(None if place is None else transcript[place] for place in places)
            group = _as_calls if tools.issuperset(call.name for call in message.tool_calls) else _as_text
            yield from group(message, tuple(map(_result, message.tool_calls, results)), ids)
        elif not is_result(message) and (message.content or message.parts):
            yield message


def _clean(message: ContextMessage) -> ContextMessage:
    content = "" if is_blank(message.content) else message.content
    return _with(message, content=content, parts=replayable(message.parts))


def _with(message: ContextMessage, **fields: Any) -> ContextMessage:
    same = all(getattr(message, name) == value for name, value in fields.items())
    return message if same else message.model_copy(update=fields)


def _result(call: ToolCall, result: ContextMessage | None) -> ContextMessage:
    if result is None:
        return ContextMessage(
            role="tool",
            content=NO_RESULT,
            origin=ContextOrigin.TRANSCRIPT,
            tool_call_id=call.id,
            tool_name=call.name,
            is_error=True,
        )
    content = result.content or ("" if result.parts else NO_OUTPUT)
    return _with(result, content=content, tool_call_id=call.id, tool_name=call.name)


class _Ids:
    """Gives each call an id of its own. Looks only at what came before, so that a prefix stays as it is."""

    def __init__(self) -> None:
        self._uses: dict[str, int] = {}

    def take(self, id: str) -> str:
        base = fresh = id or "call"
        while fresh in self._uses:
            self._uses[base] += 1
            fresh = f"{base}_{self._uses[base]}"
        self._uses[fresh] = 1
        return fresh


def _as_calls(message: ContextMessage, results: Results, ids: _Ids) -> Iterator[ContextMessage]:
    fresh = [ids.take(call.id) for call in message.tool_calls]
    calls = tuple(
        call if call.id == id else call.model_copy(update={"id": id})
        for call, id in zip(message.tool_calls, fresh, strict=True)
    )
    yield _with(message, tool_calls=calls)
    for result, id in zip(results, fresh, strict=True):
        yield _with(result, tool_call_id=id)


def _as_text(message: ContextMessage, results: Results, ids: _Ids) -> Iterator[ContextMessage]:
    said = text_of(message.content, message.parts)
    calls = "\n".join(f"[tool call: {call.name} {_json(call.arguments)}]" for call in message.tool_calls)
    content = f"{said}\n\n{calls}" if said else calls
    yield _with(message, content=content, parts=other_than_text(message.parts), tool_calls=())
    for result in results:
        head = f"[tool {'error' if result.is_error else 'result'}: {result.tool_name}]"
        output = text_of(result.content, result.parts)
        yield ContextMessage(
            role="user",
            content=f"{head}\n{output}" if output else head,
            origin=result.origin,
            seq=result.seq,
            parts=other_than_text(result.parts),
        )


def _json(arguments: object) -> str:
    return json.dumps(arguments, ensure_ascii=False, default=str)
