"""A Reply out of the chunks of a Chat Completions stream. Pure."""

import json
from dataclasses import dataclass, field
from typing import Any

from stello_graph.errors import ModelUnavailable
from stello_graph.ids import new_id
from stello_graph.llm.arguments import parsed_arguments
from stello_graph.llm.openai_form import REASONING
from stello_graph.llm.stored_parts import clean, dicts_of
from stello_graph.model.context import Reply, ReplyStop
from stello_graph.model.message import ToolCall
from stello_graph.model.values import Usage

__all__ = ["ReplyBuilder"]

_STOPS = {
    "stop": ReplyStop.END_TURN,
    "tool_calls": ReplyStop.TOOL_USE,
    "function_call": ReplyStop.TOOL_USE,
    "length": ReplyStop.MAX_TOKENS,
    "content_filter": ReplyStop.REFUSAL,
    # Not of OpenAI: words of other servers for a reply that was cut.
    "max_tokens": ReplyStop.MAX_TOKENS,
    "model_length": ReplyStop.MAX_TOKENS,
    "insufficient_system_resource": ReplyStop.MAX_TOKENS,
}


@dataclass
class _Call:
    id: str = ""
    name: str = ""
    pieces: list[str] = field(default_factory=list)


class ReplyBuilder:
    """Takes the chunks of one stream, as plain dicts and in order, then gives the Reply."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._text: list[str] = []
        self._thoughts: dict[str, list[str]] = {}
        self._calls: dict[int, _Call] = {}
        self._slots: dict[int, int] = {}
        self._usage: dict[str, Any] = {}
        self._stop: str | None = None
        self._refused = False

    def add(self, chunk: dict[str, Any]) -> str:
        """Takes one chunk. Returns the text that it brought, often none.

        Raises:
            ModelUnavailable: the chunk is not of the form that was agreed.
        """
        try:
            return self._take(chunk)
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ModelUnavailable("the model's answer makes no sense") from error

    def reply(self) -> Reply:
        """The whole reply.

        Raises:
            ModelUnavailable: the stream ended before the model did.
        """
        if self._stop is None:
            raise ModelUnavailable("the model's answer broke off")
        stop = ReplyStop.REFUSAL if self._refused else _STOPS.get(self._stop, ReplyStop.END_TURN)
        calls, cut = self._whole_calls()
        if stop is ReplyStop.REFUSAL:
            calls = ()
        elif cut:
            # A call that cannot be read must not run: only this stop says so.
            stop = ReplyStop.MAX_TOKENS
        elif calls and stop is ReplyStop.END_TURN:
            stop = ReplyStop.TOOL_USE
        elif not calls and stop is ReplyStop.TOOL_USE:
            stop = ReplyStop.END_TURN
        text = "".join(self._text)
        return Reply(
            text=text,
            parts=self._parts(text),
            tool_calls=calls,
            stop=stop,
            usage=_usage(self._usage),
            model=self._model,
        )

    def _take(self, chunk: dict[str, Any]) -> str:
        self._model = chunk.get("model") or self._model
        self._usage = dict(chunk.get("usage") or self._usage)
        # Only the first choice was asked for. The chunk that brings the usage has none.
        choice: dict[str, Any] = next((one for one in chunk.get("choices") or () if not one.get("index")), {})
        self._stop = choice.get("finish_reason") or self._stop
        delta = choice.get("delta") or {}
        for name in REASONING:
            if thought := delta.get(name):
                self._thoughts.setdefault(name, []).append(clean(str(thought)))
        for call in delta.get("tool_calls") or ():
            self._grow(self._slot(call), call)
        refusal = str(delta.get("refusal") or "")
        self._refused = self._refused or bool(refusal)
        text = clean(_text(delta.get("content")) + refusal)
        self._text.append(text)
        return text

    def _slot(self, delta: dict[str, Any]) -> int:
        """Which call the delta is of.

        By its index. Some servers leave that out, others say 0 each time: a new id or name begins a new call.
        """
        id, named = delta.get("id"), (delta.get("function") or {}).get("name")
        index = delta.get("index")
        if index is None:
            if id or named:
                known = [slot for slot, call in self._calls.items() if id and call.id == id]
                return known[0] if known else len(self._calls)
            return max(0, len(self._calls) - 1)
        slot = self._slots.setdefault(int(index), len(self._calls))
        if slot in self._calls and id and self._calls[slot].id not in ("", id):
            slot = self._slots[int(index)] = len(self._calls)
        return slot

    def _grow(self, slot: int, delta: dict[str, Any]) -> None:
        call = self._calls.setdefault(slot, _Call())
        function = delta.get("function") or {}
        call.id = call.id or str(delta.get("id") or "")
        # Sent whole, and by some servers again with each delta.
        call.name = call.name or str(function.get("name") or "")
        call.pieces.append(_written(function.get("arguments")))

    def _whole_calls(self) -> tuple[tuple[ToolCall, ...], bool]:
        """The calls in order, and whether one of them was cut."""
        calls: list[ToolCall] = []
        ids: set[str] = set()
        cut = False
        for call in self._calls.values():
            arguments = parsed_arguments("".join(call.pieces))
            cut = cut or arguments is None or not call.name
            if not call.name:
                continue
            id = call.id if call.id and call.id not in ids else f"call_{new_id()}"
            ids.add(id)
            calls.append(ToolCall(id=id, name=call.name, arguments=arguments or {}))
        return tuple(calls), cut

    def _parts(self, text: str) -> list[dict[str, Any]] | None:
        """What the model thought, and its text, where it told what it thought."""
        name, pieces = next(iter(self._thoughts.items()), ("", []))
        if not pieces:
            return None
        thought = {"type": "thinking", "thinking": "".join(pieces), "field": name}
        return [thought, *([{"type": "text", "text": text}] if text else [])]


def _text(content: Any) -> str:
    """The text of a delta: a string, or with some servers parts of which some are thoughts."""
    if content is None or isinstance(content, str):
        return content or ""
    return "".join(str(part.get("text") or "") for part in dicts_of(content) if part.get("type") == "text")


def _written(arguments: Any) -> str:
    """A piece of the JSON. Some servers send it parsed, and then whole."""
    if arguments is None or isinstance(arguments, str):
        return arguments or ""
    return json.dumps(arguments)


def _usage(told: dict[str, Any]) -> Usage:
    """The cached tokens are among those of the prompt here, and counted apart from them by us."""
    details = told.get("prompt_tokens_details")
    details = details if isinstance(details, dict) else {}
    read, written = _count(details, "cached_tokens"), _count(details, "cache_write_tokens")
    return Usage(
        input_tokens=max(0, _count(told, "prompt_tokens") - read - written),
        output_tokens=_count(told, "completion_tokens"),
        cache_read_tokens=read,
        cache_write_tokens=written,
        llm_calls=1,
    )


def _count(told: dict[str, Any], name: str) -> int:
    value = told.get(name)
    return max(0, int(value)) if isinstance(value, int | float) else 0
