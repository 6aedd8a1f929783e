"""What a test lets the server answer."""

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.model_server.refusal import Refusal

__all__ = ["Answer", "Refuse", "Respond", "Scripted", "redacted", "say", "think", "use"]

Block = dict[str, Any]


@dataclass
class Answer:
    """A reply, streamed.

    Attributes:
        blocks: text, thinking, redacted_thinking and tool_use blocks, in order.
        stop: the stop reason; None is `tool_use` where there is a call, else `end_turn`.
        chunk: characters a delta.
        pause: seconds before each delta.
        gate: waited for before delta number `gate_at` (from 0), so that a test can act in between.
        reached: set when the gate is reached.
        cut_json: characters of the last call's JSON after which `max_tokens` cut it.
        error: type and sentence of an error event inside the stream, before delta `fail_at`.
        drop: the connection breaks before delta `fail_at`.
        fail_at: None is after all deltas, but before the end.
        events: raw events that are sent instead of everything else, as (name, data).
    """

    blocks: list[Block] = field(default_factory=list)
    stop: str | None = None
    chunk: int = 8
    pause: float = 0.0
    gate: threading.Event | None = None
    gate_at: int = 0
    reached: threading.Event = field(default_factory=threading.Event)
    cut_json: int | None = None
    error: tuple[str, str] | None = None
    drop: bool = False
    fail_at: int | None = None
    events: list[tuple[str, Any]] | None = None

    @property
    def stop_reason(self) -> str:
        """The stop reason that goes out."""
        if self.cut_json is not None:
            return "max_tokens"
        calls = any(block["type"] == "tool_use" for block in self.blocks)
        return self.stop or ("tool_use" if calls else "end_turn")


@dataclass
class Refuse:
    """A refusal that has nothing to do with the request: 429, 529, a broken proxy.

    Attributes:
        body: sent instead of the error JSON.
    """

    status: int
    type: str = "api_error"
    message: str = "no"
    headers: dict[str, str] = field(default_factory=dict)
    body: str | None = None

    def refusal(self) -> Refusal:
        """As an exception of the rules."""
        return Refusal(self.status, self.type, self.message, self.headers)


Scripted = str | Answer | Refuse
Respond = Callable[[dict[str, Any]], Scripted]


def say(text: str) -> Block:
    """A text block."""
    return {"type": "text", "text": text}


def think(text: str, signature: str) -> Block:
    """A thinking block, with the signature that it must come back with."""
    return {"type": "thinking", "thinking": text, "signature": signature}


def redacted(data: str) -> Block:
    """A redacted thinking block."""
    return {"type": "redacted_thinking", "data": data}


def use(name: str, arguments: dict[str, Any] | None = None, *, id: str = "toolu_1") -> Block:
    """A tool call."""
    return {"type": "tool_use", "id": id, "name": name, "input": arguments or {}}
