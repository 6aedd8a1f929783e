"""What all providers' failures share: when to ask again, and sentences without secrets. Pure."""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

__all__ = ["reason", "retry_after"]

_SECRET = re.compile(r"(sk-[A-Za-z0-9_-]{6,}|Bearer\s+\S+)", re.IGNORECASE)


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds to wait, where the headers say so."""
    try:
        if milliseconds := headers.get("retry-after-ms"):
            return max(0.0, float(milliseconds) / 1000)
        value = headers.get("retry-after", "")
        if value.replace(".", "", 1).isdigit():
            return float(value)
        return max(0.0, (parsedate_to_datetime(value) - datetime.now(UTC)).total_seconds())
    except (ValueError, TypeError):
        return None


def reason(said: str | None, secret: str) -> str:
    """The provider's sentence as the end of one of ours, "" where it said nothing.

    Args:
        secret: the key, which never gets out; what looks like another key does not either.
    """
    if not said:
        return ""
    if secret:
        said = said.replace(secret, "***")
    return ": " + _SECRET.sub("***", said)[:300]
