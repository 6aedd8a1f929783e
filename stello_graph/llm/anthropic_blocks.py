"""Content blocks of Anthropic's Messages API, and which of the stored parts are legal there. Pure."""

from typing import Any

from stello_graph.llm.stored_parts import THINKING, clean, dicts_of
from stello_graph.model.context import ContextMessage

__all__ = ["media_blocks", "result_content", "text_block"]

_SOURCES: dict[tuple[str, str], tuple[str, ...]] = {
    ("image", "base64"): ("media_type", "data"),
    ("image", "url"): ("url",),
    ("image", "file"): ("file_id",),
    ("document", "base64"): ("media_type", "data"),
    ("document", "url"): ("url",),
    ("document", "file"): ("file_id",),
    ("document", "text"): ("media_type", "data"),
}

_MEDIA_TYPES = {
    ("image", "base64"): ("image/jpeg", "image/png", "image/gif", "image/webp"),
    ("document", "base64"): ("application/pdf",),
    ("document", "text"): ("text/plain",),
}


def text_block(text: str) -> dict[str, Any]:
    """A text block, of text that UTF-8 can carry."""
    return {"type": "text", "text": clean(text)}


def media_blocks(parts: Any) -> list[dict[str, Any]]:
    """The images and documents among the parts of a message, without what the provider does not know.

    What it cannot take, such as an imported pointer without bytes, becomes a short text in its place.
    """
    return [
        _media(part) or text_block(f"[{part.get('type') or 'attachment'}]")
        for part in dicts_of(parts)
        if part.get("type") not in ("text", *THINKING)
    ]


def result_content(result: ContextMessage) -> list[dict[str, Any]]:
    """The content of a tool result. That of an error must be text and must not be empty."""
    blocks = [text_block(result.content)] if result.content.strip() else []
    if result.is_error:
        return blocks or [text_block("The tool failed without saying why.")]
    return blocks + media_blocks(result.parts)


def _media(part: dict[str, Any]) -> dict[str, Any] | None:
    source = part.get("source")
    if not isinstance(source, dict):
        return None
    kind = (str(part.get("type")), str(source.get("type")))
    known = {name: source.get(name) for name in _SOURCES.get(kind, ())}
    if not known or not all(isinstance(value, str) and value for value in known.values()):
        return None
    if kind in _MEDIA_TYPES and known["media_type"] not in _MEDIA_TYPES[kind]:
        return None
    if "url" in known and not str(known["url"]).startswith(("https://", "http://")):
        return None
    return {"type": kind[0], "source": {"type": kind[1], **known}}
