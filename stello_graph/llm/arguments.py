"""The arguments of a call, as a model wrote them. Pure."""

import json
from typing import Any

__all__ = ["parsed_arguments"]


def parsed_arguments(text: str) -> dict[str, Any] | None:
    """The arguments, {} for a call without any, None for JSON that was cut or is no object.

    A lone surrogate, which a JSON escape can hold, is no UTF-8, and NaN no JSON: no store takes either.
    """
    if not text.strip():
        return {}
    try:
        value = json.loads(text)
        if not isinstance(value, dict):
            return None
        clean = json.dumps(value, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        return dict(json.loads(clean))
    except (ValueError, RecursionError):
        return None
