"""Texts in one line."""

import re

__all__ = ["CONTROLS", "in_one_line", "one_line"]

CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")
"""What is left out of a text: all control characters but tabs and line feeds."""

_BREAKS = re.compile(r"[\t\n\r\v\f\x1c-\x1f\x85\u2028\u2029]+")


def in_one_line(text: str) -> str:
    """`text` as one line without control characters, for storing; `one_line` is how prompts show it."""
    return CONTROLS.sub("", _BREAKS.sub(" ", text)).strip()


def one_line(text: str) -> str:
    """`text` as one line that holds no control characters and no tags, for labels and list entries."""
    return in_one_line(text).replace("<", "&lt;").replace(">", "&gt;")
