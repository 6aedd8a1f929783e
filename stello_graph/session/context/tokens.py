"""How many tokens a request takes, guessed from its script, or known from the last call."""

import json
from collections.abc import Sequence
from typing import Any

from stello_graph.model.context import ContextMessage, ToolSpec
from stello_graph.model.values import Usage

__all__ = ["beginning_of", "estimate", "measure", "tokens_of"]

_MESSAGE = 4
_CALL = 8
_TOOL = 8
_MEDIA = 1600
_BASE64_PER_TOKEN = 64


def tokens_of(text: str) -> int:
    """About one token for 4 Latin characters, one for each of Han, Kana and Hangul.

    UTF-8 tells the scripts apart: of 1, 2, 3 and 4 bytes a character come 1/4 (ASCII), 5/8 (accents,
    Cyrillic, Arabic …), 1 (Han, Kana, Hangul …) and 11/8 tokens (emoji, rare Han).
    """
    if text.isascii():
        return -(-len(text) // 4)
    return -(-(3 * len(text.encode("utf-8", "surrogatepass")) - len(text)) // 8)


def beginning_of(text: str, budget: int) -> str:
    """The longest beginning of `text` that takes at most `budget` tokens; one character at least."""
    longest = 4 * max(budget, 0)
    if len(text) <= longest and tokens_of(text) <= budget:
        return text
    low, high = 1, max(min(len(text), longest), 1)
    while low < high:
        middle = (low + high + 1) // 2
        low, high = (middle, high) if tokens_of(text[:middle]) <= budget else (low, middle - 1)
    return text[:low]


def estimate(messages: Sequence[ContextMessage], tools: Sequence[ToolSpec] = ()) -> int:
    """Tokens of a request, by its text alone."""
    return sum(map(_message, messages)) + sum(map(_tool, tools))


def measure(messages: Sequence[ContextMessage], tools: Sequence[ToolSpec] = ()) -> int:
    """Tokens of a request: what the last call took, as its provider counted, and an estimate of the rest.

    A count below half of the estimate is not believed: some gateways report next to nothing, and the
    context would grow past its window unnoticed.
    """
    last = next((index for index in reversed(range(len(messages))) if messages[index].usage), None)
    if last is None:
        return estimate(messages, tools)
    guessed = estimate(messages[: last + 1], tools)
    counted = _context_of(messages[last].usage)
    return (counted if 2 * counted >= guessed else guessed) + estimate(messages[last + 1 :])


def _context_of(usage: Usage | None) -> int:
    if usage is None:
        return 0
    return usage.input_tokens + usage.cache_read_tokens + usage.cache_write_tokens + usage.output_tokens


def _message(message: ContextMessage) -> int:
    calls = sum(_CALL + tokens_of(call.name) + _json(call.arguments) for call in message.tool_calls)
    blocks = sum(_block(block, bool(message.content)) for block in message.parts or ())
    return _MESSAGE + tokens_of(message.content) + calls + blocks


def _block(block: dict[str, Any], text_is_counted: bool) -> int:
    match block:
        case {"type": "text", "text": str(text)}:
            return 0 if text_is_counted else tokens_of(text)
        case {"type": "thinking", "thinking": str(text)}:
            return tokens_of(text)
        case {"type": "document", "source": {"type": "text", "data": str(text)}}:
            return tokens_of(text)
        case {"type": "document", "source": {"data": str(data)}}:
            return max(_MEDIA, len(data) // _BASE64_PER_TOKEN)
        case {"type": "image" | "image_url" | "document" | "redacted_thinking"}:
            return _MEDIA
        case _:
            return _json(block)


def _tool(tool: ToolSpec) -> int:
    return _TOOL + tokens_of(tool.name) + tokens_of(tool.description) + _json(tool.input_schema)


def _json(value: Any) -> int:
    return tokens_of(json.dumps(value, ensure_ascii=False, default=str))
