"""A Reply out of the events of Anthropic's stream. Pure."""

from typing import Any

from stello_graph.errors import ContextTooLong, ModelUnavailable
from stello_graph.llm.arguments import parsed_arguments, storable_arguments
from stello_graph.model.context import Reply, ReplyStop
from stello_graph.model.message import ToolCall
from stello_graph.model.values import Usage

__all__ = ["ReplyBuilder"]

_PLAIN = ("text", "tool_use")

_STOPS = {
    "end_turn": ReplyStop.END_TURN,
    "stop_sequence": ReplyStop.END_TURN,
    "tool_use": ReplyStop.TOOL_USE,
    "max_tokens": ReplyStop.MAX_TOKENS,
    "refusal": ReplyStop.REFUSAL,
    "model_context_window_exceeded": ReplyStop.MAX_TOKENS,
    # A pause asks to be gone on from: what came is cut, as by max_tokens.
    "pause_turn": ReplyStop.MAX_TOKENS,
}

_USAGE = {
    "input_tokens": "input_tokens",
    "output_tokens": "output_tokens",
    "cache_read_tokens": "cache_read_input_tokens",
    "cache_write_tokens": "cache_creation_input_tokens",
}


class ReplyBuilder:
    """Takes the events of one stream, as plain dicts and in order, then gives the Reply."""

    def __init__(self, model: str) -> None:
        self._model = model
        self._blocks: dict[int, dict[str, Any]] = {}
        self._pieces: dict[int, list[str]] = {}
        self._usage: dict[str, int] = {}
        self._stop: str | None = None

    def add(self, event: dict[str, Any]) -> str:
        """Takes one event. Returns the text that it brought, often none.

        Raises:
            ModelUnavailable: the event is not of the form that was agreed.
        """
        try:
            return self._take(event)
        except (KeyError, TypeError, AttributeError) as error:
            raise ModelUnavailable("the model's answer makes no sense") from error

    def reply(self) -> Reply:
        """The whole reply.

        Raises:
            ModelUnavailable: the stream ended before the model did.
            ContextTooLong: the window was full before the model said anything.
        """
        if self._stop is None:
            raise ModelUnavailable("the model's answer broke off")
        blocks, cut = self._whole_blocks()
        calls = [_call(block) for block in blocks if block.get("type") == "tool_use"]
        text = "".join(block.get("text") or "" for block in blocks if block.get("type") == "text")
        if self._stop == "model_context_window_exceeded" and not text and not calls:
            raise ContextTooLong("the request fills the model's whole window")
        stop = _STOPS.get(self._stop, ReplyStop.END_TURN)
        if stop is ReplyStop.REFUSAL:
            calls = []
            blocks = [block for block in blocks if block.get("type") != "tool_use"]
        elif calls and stop is ReplyStop.END_TURN:
            stop = ReplyStop.TOOL_USE
        elif not calls and stop is ReplyStop.TOOL_USE:
            stop = ReplyStop.END_TURN
        return Reply(
            text=text,
            parts=blocks if any(block.get("type") not in _PLAIN for block in blocks) else None,
            tool_calls=tuple(calls),
            # A call that cannot be read must not run: only this stop says so.
            stop=ReplyStop.MAX_TOKENS if cut and stop is ReplyStop.TOOL_USE else stop,
            usage=Usage(**self._usage, llm_calls=1),
            model=self._model,
        )

    def _take(self, event: dict[str, Any]) -> str:
        match event.get("type"):
            case "message_start":
                self._model = event["message"].get("model") or self._model
                self._count(event["message"].get("usage"))
            case "content_block_start":
                return self._start(event["index"], dict(event["content_block"]))
            case "content_block_delta":
                return self._extend(event["index"], event["delta"])
            case "message_delta":
                self._stop = event["delta"].get("stop_reason") or self._stop
                self._count(event.get("usage"))
        return ""

    def _start(self, index: int, block: dict[str, Any]) -> str:
        self._blocks[index] = block
        if block["type"] == "tool_use" and not (block["id"] and block["name"]):
            raise KeyError("a call without id or name")
        return str(block.get("text") or "") if block["type"] == "text" else ""

    def _extend(self, index: int, delta: dict[str, Any]) -> str:
        block = self._blocks[index]
        match delta.get("type"):
            case "text_delta":
                self._grow(index, delta["text"])
                return str(delta["text"])
            case "thinking_delta":
                self._grow(index, delta["thinking"])
            case "input_json_delta":
                self._grow(index, delta["partial_json"])
            case "signature_delta":
                block["signature"] = delta["signature"]
            case "citations_delta":
                block["citations"] = [*(block.get("citations") or ()), delta["citation"]]
        return ""

    def _grow(self, index: int, piece: str) -> None:
        self._pieces.setdefault(index, []).append(str(piece))

    def _whole_blocks(self) -> tuple[list[dict[str, Any]], bool]:
        """The blocks in order, and whether a call was cut."""
        blocks: list[dict[str, Any]] = []
        cut = False
        for index in sorted(self._blocks):
            block = dict(self._blocks[index])
            grown = "".join(self._pieces.get(index, ()))
            match block.get("type"):
                case "text" | "thinking" as field:
                    block[field] = (block.get(field) or "") + grown
                case "tool_use":
                    is_written = index in self._pieces
                    arguments = (
                        parsed_arguments(grown)
                        if is_written
                        else storable_arguments(block.get("input") or {})
                    )
                    cut = cut or arguments is None
                    block["input"] = arguments or {}
            blocks.append(block)
        return blocks, cut

    def _count(self, usage: dict[str, Any] | None) -> None:
        for ours, theirs in _USAGE.items():
            if usage and usage.get(theirs) is not None:
                self._usage[ours] = usage[theirs]


def _call(block: dict[str, Any]) -> ToolCall:
    return ToolCall(id=block["id"], name=block["name"], arguments=block.get("input") or {})
