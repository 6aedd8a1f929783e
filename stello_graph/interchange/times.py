"""Times of other products as UTC microseconds."""

from datetime import UTC, datetime
from typing import Any

__all__ = ["micros"]

_YEAR_9999 = 253_402_300_799


def micros(value: Any) -> int | None:
    """UTC microseconds of seconds since 1970 (a number or its text) or of an ISO date and time.

    None for what is absent, unreadable, before 1970 or after the year 9999. A time without a zone is UTC.
    """
    if isinstance(value, str):
        value = _number(value) if _number(value) is not None else _iso(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return round(value * 1_000_000) if 0 < value <= _YEAR_9999 else None


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None


def _iso(text: str) -> float | None:
    try:
        time = datetime.fromisoformat(text.strip())
        return (time if time.tzinfo else time.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None
