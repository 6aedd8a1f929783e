"""The text of a message of any content type, and what cannot be said as text."""

from collections.abc import Callable
from typing import Any

from stello_graph.interchange.text import thinking

__all__ = ["text_and_rest"]

_Content = dict[str, Any]
_TEXT_FIELDS = ("text", "result", "summary", "content", "output_str")


def text_and_rest(content: Any) -> tuple[str, Any]:
    """The text of a message's `content`, and what the text leaves out, or None.

    Raises:
        TypeError: `content` is neither an object nor a string.
    """
    if isinstance(content, str):
        return content, None
    if not isinstance(content, dict):
        raise TypeError("its content is no object")
    kind = content.get("content_type")
    text, told = _READERS.get(kind, _any)(content) if isinstance(kind, str) else _any(content)
    rest = {key: value for key, value in content.items() if key not in told and value is not None}
    return text, None if rest in ({}, {"content_type": "text"}) else rest


def _any(content: _Content) -> tuple[str, set[str]]:
    if "parts" in content:
        return _parts(content)
    texts = {key: content[key] for key in _TEXT_FIELDS if isinstance(content.get(key), str)}
    for key, text in texts.items():
        if text.strip():
            return text, {key}
    has_more = any(value for key, value in content.items() if key not in ("content_type", *_TEXT_FIELDS))
    if texts or not has_more:
        return "", set(texts)
    return f"[{content.get('content_type') or 'content'}]", set()


def _parts(content: _Content) -> tuple[str, set[str]]:
    parts = content["parts"]
    parts = parts if isinstance(parts, list) else [parts]
    texts = [text for part in parts if (text := _part(part))]
    is_told = len(texts) < 2 and all(isinstance(part, str) or not part for part in parts)
    return "\n".join(texts), {"parts"} if is_told else set()


def _part(part: Any) -> str:
    if not isinstance(part, dict):
        return part if isinstance(part, str) else str(part) if part else ""
    if isinstance(part.get("text"), str):
        return str(part["text"])
    kind = str(part.get("content_type") or "attachment")
    for medium in ("image", "audio", "video"):
        if medium in kind:
            return f"[{medium}]"
    return f"[{kind}]" if part else ""


def _quote(content: _Content) -> tuple[str, set[str]]:
    told = [key for key in ("title", "url", "text") if isinstance(content.get(key), str)]
    return "\n".join(content[key] for key in told if content[key].strip()), set(told)


def _thoughts(content: _Content) -> tuple[str, set[str]]:
    thoughts = content.get("thoughts")
    lines = [
        text
        for thought in (thoughts if isinstance(thoughts, list) else [])
        if isinstance(thought, dict)
        for key in ("summary", "content")
        if isinstance(text := thought.get(key), str) and text.strip()
    ]
    return thinking("\n\n".join(lines)), set() if lines else {"thoughts"}


def _recap(content: _Content) -> tuple[str, set[str]]:
    recap = content.get("content")
    return thinking(recap if isinstance(recap, str) else ""), {"content"}


_READERS: dict[str, Callable[[_Content], tuple[str, set[str]]]] = {
    "tether_quote": _quote,
    "sonic_webpage": _quote,
    "thoughts": _thoughts,
    "reasoning_recap": _recap,
}
