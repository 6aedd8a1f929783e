"""What a test lets the server answer, and how that goes out."""

import json
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from tests.model_server.tokens import count_text
from tests.openai_server.refusal import Refusal

__all__ = ["Answer", "Call", "Refuse", "Respond", "Scripted", "deltas_of", "output_tokens", "use"]

Call = dict[str, Any]


@dataclass
class Answer:
    """A reply, streamed.

    Attributes:
        thoughts: what the model thinks, sent first, in the field `thoughts_field`.
        calls: made by `use`.
        finish: the finish reason; None is `tool_calls` where there is a call, else `stop`.
        refusal: text of a refusal.
        chunk: characters a delta.
        pause: seconds before each delta.
        gate: waited for before delta number `gate_at` (from 0), so that a test can act in between.
        reached: set when the gate is reached.
        cut_json: characters of the last call's JSON after which `length` cut it.
        indexed: calls carry their index, as they should.
        error: an error event inside the stream, before delta `fail_at`.
        drop: the connection breaks before delta `fail_at`.
        fail_at: None is after all deltas, but before the end.
        ends: whether a finish reason is sent.
        raw: bytes that are sent instead of everything else.
    """

    text: str = ""
    calls: list[Call] = field(default_factory=list)
    thoughts: str = ""
    thoughts_field: str = "reasoning_content"
    finish: str | None = None
    refusal: str = ""
    chunk: int = 8
    pause: float = 0.0
    gate: threading.Event | None = None
    gate_at: int = 0
    reached: threading.Event = field(default_factory=threading.Event)
    cut_json: int | None = None
    indexed: bool = True
    error: dict[str, Any] | None = None
    drop: bool = False
    fail_at: int | None = None
    ends: bool = True
    raw: bytes | None = None

    @property
    def finish_reason(self) -> str:
        """The finish reason that goes out."""
        if self.cut_json is not None:
            return "length"
        return self.finish or ("tool_calls" if self.calls else "stop")


@dataclass
class Refuse:
    """A refusal that has nothing to do with the request: 429, 503, a broken proxy.

    Attributes:
        body: sent instead of the error JSON.
    """

    status: int
    message: str = "no"
    type: str = "server_error"
    code: str | None = None
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None

    def refusal(self) -> Refusal:
        """As an exception of the rules."""
        return Refusal(self.status, self.message, self.type, self.code, headers=self.headers)


Scripted = str | Answer | Refuse
Respond = Callable[[dict[str, Any]], Scripted]


def use(name: str, arguments: Any = None, *, id: str | None = "call_1") -> Call:
    """A tool call. Arguments that are a string go out as they are."""
    written = arguments if isinstance(arguments, str) else json.dumps(arguments or {}, ensure_ascii=False)
    return {"id": id, "name": name, "arguments": written}


def deltas_of(answer: Answer) -> Iterator[dict[str, Any]]:
    """The deltas: thoughts, text, calls."""
    for name, text in (
        (answer.thoughts_field, answer.thoughts),
        ("content", answer.text),
        ("refusal", answer.refusal),
    ):
        for piece in _pieces(text, answer.chunk):
            yield {name: piece}
    for index, call in enumerate(answer.calls):
        last = index == len(answer.calls) - 1
        yield from _call_deltas(answer, index, call, answer.cut_json if last else None)


def output_tokens(answer: Answer) -> int:
    """What the reply costs."""
    calls = sum(count_text(call["name"] + call["arguments"]) for call in answer.calls)
    return max(1, count_text(answer.thoughts + answer.text + answer.refusal) + calls)


def _call_deltas(answer: Answer, index: int, call: Call, cut: int | None) -> Iterator[dict[str, Any]]:
    place = {"index": index} if answer.indexed else {}
    id = {} if call["id"] is None else {"id": call["id"], "type": "function"}
    yield {"tool_calls": [{**place, **id, "function": {"name": call["name"], "arguments": ""}}]}
    for piece in _pieces(call["arguments"][:cut], answer.chunk):
        yield {"tool_calls": [{**place, "function": {"arguments": piece}}]}


def _pieces(text: str, size: int) -> list[str]:
    return [text[at : at + size] for at in range(0, len(text), size)]
