"""Blocks beside the text of a message, as far as they may go to a model."""

from typing import Any

from stello_graph.session.context.text import is_blank

__all__ = ["Blocks", "other_than_text", "replayable", "text_of"]

Blocks = list[dict[str, Any]]

_TOOL_BLOCKS = frozenset({"tool_use", "tool_result", "tool_call", "function_call", "function_call_output"})
_THINKING = frozenset({"thinking", "redacted_thinking"})


def replayable(parts: Any) -> Blocks | None:
    """The blocks of `parts` that a request may hold, unaltered, or None where there are none.

    Tool blocks go: calls and results travel in fields of their own, where they can be paired. What is
    no block at all goes as well, and so does blank text, since providers refuse it. Only between
    thinking and words it stays: thinking is replayed just as it came, and its adapter knows what to skip.
    """
    if not isinstance(parts, list | tuple):
        return None
    blocks = [block for block in parts if isinstance(block, dict) and _may_go(block)]
    if not (any(map(_is_thinking, blocks)) and any(map(_says_something, blocks))):
        blocks = [block for block in blocks if block["type"] != "text" or _says_something(block)]
    return blocks or None


def text_of(content: str, parts: Any) -> str:
    """The text of a message: its content, or where that is blank the text in its blocks."""
    if not is_blank(content):
        return content
    return "\n".join(block["text"] for block in replayable(parts) or () if _says_something(block))


def other_than_text(parts: Any) -> Blocks | None:
    """Images, documents and the like: the blocks that hold in any message, whoever says it."""
    blocks = replayable(parts) or ()
    return [block for block in blocks if block["type"] != "text" and not _is_thinking(block)] or None


def _may_go(block: dict[str, Any]) -> bool:
    kind = block.get("type")
    return isinstance(kind, str) and kind not in _TOOL_BLOCKS


def _says_something(block: dict[str, Any]) -> bool:
    return block["type"] == "text" and isinstance(block.get("text"), str) and not is_blank(block["text"])


def _is_thinking(block: dict[str, Any]) -> bool:
    return block["type"] in _THINKING
