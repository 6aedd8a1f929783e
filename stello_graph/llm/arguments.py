"""The arguments of a call, as a model wrote them. Pure."""

import json
from typing import Any

import orjson

from stello_graph.model.checks import MAX_JSON_DEPTH, levels_of

__all__ = ["parsed_arguments", "storable_arguments"]


def parsed_arguments(text: str) -> dict[str, Any] | None:
    """The arguments, {} for a call without any, None for JSON that was cut or cannot be stored."""
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return storable_arguments(value)


def storable_arguments(value: Any) -> dict[str, Any] | None:
    """The arguments as they are stored, None for what is no object or cannot be.

    A lone surrogate, which a JSON escape can hold, is no UTF-8: it becomes a question mark. No store takes
    NaN, an integer of more than 64 bits, or what is nested deeper than the API lets anybody nest it.
    """
    if not isinstance(value, dict) or levels_of(value) > MAX_JSON_DEPTH:
        return None
    try:
        clean = json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace"))
        orjson.dumps(clean)
    except (TypeError, ValueError):
        return None
    return dict(clean)
