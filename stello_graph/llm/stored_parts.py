"""Reading the parts of stored messages, which may be any JSON. Pure."""

from typing import Any

__all__ = ["THINKING", "clean", "dicts_of", "text_of"]

THINKING = ("thinking", "redacted_thinking")


def clean(text: str) -> str:
    """The text as UTF-8 can carry it: a lone surrogate, which JSON can hold, becomes a question mark."""
    return text.encode("utf-8", "replace").decode()


def dicts_of(parts: Any) -> list[dict[str, Any]]:
    """The blocks among the parts."""
    return [part for part in parts if isinstance(part, dict)] if isinstance(parts, list | tuple) else []


def text_of(parts: Any) -> str:
    """The text among the parts of a message that has no text of its own."""
    return "\n\n".join(str(part.get("text") or "") for part in dicts_of(parts) if part.get("type") == "text")
