"""Text that goes into prompts: blanks, control characters, tags and thinking."""

import json
import re
from typing import Any

from stello_graph.model.lines import CONTROLS, in_one_line, one_line
from stello_graph.model.thinking import is_blank, without_thinking

__all__ = [
    "in_one_line",
    "is_blank",
    "one_line",
    "plain",
    "storable",
    "storable_json",
    "tagged",
    "without_thinking",
]

_NEW_LINES = re.compile(r"\r\n?|[\x85\u2028\u2029]")
# The spaces are bounded: without a bound a text of many of them takes quadratic time.
_OUR_TAGS = re.compile(
    r"<(?=\s{0,4}/?\s{0,4}(?:session_identity|shared_memory_index|parent_context|role_context)\b)",
    re.IGNORECASE,
)


def plain(text: str) -> str:
    """`text` without control characters and with our own tags defused; its lines and other tags stay."""
    clean = CONTROLS.sub("", _NEW_LINES.sub("\n", text)).strip()
    return _OUR_TAGS.sub("&lt;", clean)


def storable(text: str) -> str:
    """`text` as a store can take it: without NUL, with a mark for half of a surrogate pair."""
    return text.replace("\x00", "").encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def storable_json(value: Any) -> Any:
    """`value` as a store can take it: as it is where it can, else in the form of JSON that comes nearest.

    Half of a surrogate pair becomes a mark, what is no number null, and what JSON does not know its text.
    """
    try:
        json.dumps(value, ensure_ascii=False, allow_nan=False).encode()
    except (TypeError, ValueError):
        text = json.dumps(value, ensure_ascii=False, skipkeys=True, default=str)
        return json.loads(storable(text), parse_constant=lambda _: None)
    return value


def tagged(tag: str, text: str) -> str:
    """`text` between the opening and the closing `tag`, each on its own line."""
    return f"<{tag}>\n{plain(text)}\n</{tag}>"
