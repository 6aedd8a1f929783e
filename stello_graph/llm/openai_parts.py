"""Content parts of the Chat Completions API, and which of the stored parts are legal there. Pure."""

from typing import Any

from stello_graph.llm.stored_parts import THINKING, clean, dicts_of
from stello_graph.model.context import ContextMessage

__all__ = ["media_parts", "result_text", "text_part"]

_IMAGES = ("image/jpeg", "image/png", "image/gif", "image/webp")


def text_part(text: str) -> dict[str, Any]:
    """A text part, of text that UTF-8 can carry."""
    return {"type": "text", "text": clean(text)}


def media_parts(parts: Any) -> list[dict[str, Any]]:
    """The images and documents among the parts of a message.

    What the API cannot take, such as a file kept at another provider, becomes a short text in its place.
    """
    return [
        _media(part) or text_part(f"[{part.get('type') or 'attachment'}]")
        for part in dicts_of(parts)
        if part.get("type") not in ("text", *THINKING)
    ]


def result_text(result: ContextMessage) -> str:
    """The content of a tool message: never empty, and an error says that it is one."""
    text = clean(result.content).strip()
    if result.is_error:
        return f"Error: {text or 'the tool failed without saying why.'}"
    return clean(result.content) if text else "(no output)"


def _media(part: dict[str, Any]) -> dict[str, Any] | None:
    source = part.get("source")
    if not isinstance(source, dict):
        return None
    match part.get("type"), source.get("type"), source.get("media_type"):
        case "image", "url", _:
            return _image(source.get("url"), ("https://", "http://"))
        case "image", "base64", str(media_type) if media_type in _IMAGES:
            data = source.get("data")
            return _image(f"data:{media_type};base64,{data}") if _is_text(data) else None
        case "document", "base64", "application/pdf" if _is_text(source.get("data")):
            data = f"data:application/pdf;base64,{source['data']}"
            return {"type": "file", "file": {"filename": "document.pdf", "file_data": clean(data)}}
        case "document", "text", _ if _is_text(source.get("data")):
            return text_part(source["data"])
    return None


def _image(url: Any, schemes: tuple[str, ...] = ("data:",)) -> dict[str, Any] | None:
    if not isinstance(url, str) or not url.startswith(schemes):
        return None
    return {"type": "image_url", "image_url": {"url": clean(url)}}


def _is_text(value: Any) -> bool:
    return isinstance(value, str) and bool(value.strip())
