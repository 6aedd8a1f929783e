"""Text of other products made fit to be stored."""

import math
import re
from typing import Any

from stello_graph.model.checks import MAX_JSON_DEPTH

__all__ = ["MAX_DEPTH", "MAX_METADATA", "Cleaner", "Unfit", "excerpt", "label_of", "thinking"]

MAX_LABEL = 200
# What is let in from elsewhere is no deeper than what is taken from a caller, so that an own export of it is.
MAX_DEPTH = MAX_JSON_DEPTH - 1
MAX_METADATA = 1 << 20
MAX_EXCERPT = 40

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_BREAKS = re.compile(r"[\s\x1c-\x1f\x85\u2028\u2029]+")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL)


class Unfit(ValueError):
    """A value that cannot be stored in any form; the text says why."""


class Cleaner:
    """Replaces what no store takes, and remembers that it did.

    Attributes:
        replaced: whether there was a NUL or a lone surrogate; each became U+FFFD.
        renumbered: whether there was a number that does not fit.
    """

    def __init__(self, max_depth: int = MAX_DEPTH) -> None:
        self.replaced = False
        self.renumbered = False
        self._max_depth = max_depth

    def text(self, text: str) -> str:
        """`text` without NUL and lone surrogates."""
        if _UNSTORABLE.search(text):
            self.replaced = True
            return _UNSTORABLE.sub("\ufffd", text)
        return text

    def value(self, value: Any, depth: int = 0) -> Any:
        """A JSON value whose strings are clean and whose numbers fit: an integer beyond 64 bits (with a sign
        or without) becomes a string, infinity and NaN become null.

        Raises:
            Unfit: the value is nested too deeply.
        """
        if depth > self._max_depth:
            raise Unfit("nested too deeply")
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, dict):
            return {self.text(key): self.value(each, depth + 1) for key, each in value.items()}
        if isinstance(value, list):
            return [self.value(each, depth + 1) for each in value]
        if isinstance(value, float) and not math.isfinite(value):
            self.renumbered = True
            return None
        if isinstance(value, int) and not -(2**63) <= value < 2**64:
            self.renumbered = True
            return str(value)
        return value


def label_of(text: Any, default: str = "") -> str:
    """`text` as a label: one line, no control characters, 200 characters at most."""
    line = _one_line(text) if isinstance(text, str) else ""
    return (line if len(line) <= MAX_LABEL else line[: MAX_LABEL - 1].rstrip() + "…") or default


def excerpt(text: str) -> str:
    """The first words of `text`, thinking left out."""
    line = _one_line(_THINKING.sub("", text[:10_000])[: 10 * MAX_EXCERPT])
    return line if len(line) <= MAX_EXCERPT else line[: MAX_EXCERPT - 1].rstrip() + "…"


def thinking(text: str) -> str:
    """A model's thoughts as text of a message; nothing where there are none."""
    return "<think>\n" + text.replace("</think", "&lt;/think") + "\n</think>" if text.strip() else ""


def _one_line(text: str) -> str:
    return _CONTROLS.sub("", _BREAKS.sub(" ", text)).strip()
