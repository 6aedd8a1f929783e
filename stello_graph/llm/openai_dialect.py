"""How servers of the Chat Completions API differ, and what a refusal tells of it. Pure."""

import re
from dataclasses import dataclass, replace
from typing import Literal

__all__ = ["Dialect", "dialect_at", "learnt"]

_OWN_HOSTS = (".api.openai.com", ".openai.azure.com")

_UNKNOWN = re.compile(
    r"unsupported|not supported|unrecognized|unknown|unexpected|extra|not permitted|forbidden"
)


@dataclass(frozen=True)
class Dialect:
    """What one model at one server wants to hear.

    Attributes:
        limit: how it calls the most tokens of a reply. OpenAI's newer models know the one, most local servers
            only the other.
        counts: it knows `stream_options`, and tells the usage.
        effort: what to say of the effort of reasoning where there are tools: OpenAI's models from gpt-5.4 on
            take functions here only without any.
        thoughts: what it thought may be sent back inside its tool loop.
        swapped: `limit` is not the one that was tried first.
    """

    limit: Literal["max_tokens", "max_completion_tokens"] = "max_completion_tokens"
    counts: bool = True
    effort: Literal["none"] | None = None
    thoughts: bool = True
    swapped: bool = False


def dialect_at(host: str) -> Dialect:
    """What to try first at `host`: a server's name without its port."""
    own = f".{host}".endswith(_OWN_HOSTS)
    return Dialect(limit="max_completion_tokens" if own else "max_tokens")


def learnt(dialect: Dialect, status: int, said: str | None) -> Dialect | None:
    """What to try next after a refusal; None where it has another cause. At most one try for each difference.

    Args:
        said: the provider's sentence, and the parameter that it names.
    """
    if status not in (400, 422) or not said:
        return None
    text = said.lower()
    if "reasoning_effort" in text and dialect.effort is None:
        return replace(dialect, effort="none")
    if not _UNKNOWN.search(text):
        return None
    if dialect.limit in text and not dialect.swapped:
        other: Literal["max_tokens", "max_completion_tokens"] = (
            "max_tokens" if dialect.limit == "max_completion_tokens" else "max_completion_tokens"
        )
        return replace(dialect, limit=other, swapped=True)
    if ("stream_options" in text or "include_usage" in text) and dialect.counts:
        return replace(dialect, counts=False)
    if "reasoning" in text and dialect.thoughts:
        return replace(dialect, thoughts=False)
    return None
