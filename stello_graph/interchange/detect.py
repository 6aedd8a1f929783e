"""Tells which format a file has by its beginning."""

import re
from codecs import BOM_UTF8
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice
from typing import Final

from stello_graph.errors import InvalidInput

__all__ = ["CUT_OFF", "EMPTY", "HEAD_SIZE", "MAX_TOKENS", "NO_EXPORT", "Format", "detect"]

HEAD_SIZE = 1 << 20
"""How many bytes of a file `detect` wants to see."""

EMPTY: Final = "it is empty"
CUT_OFF: Final = "it breaks off in the middle"
NO_EXPORT: Final = "it is no export of conversations"

# Each takes a microsecond, and an archive may have thousands of files that are nothing but brackets.
MAX_TOKENS = 1_000

# A string may end with the head: to try again behind each of its quotes would take quadratic time.
_TOKEN = re.compile(rb'"((?:[^"\\]++|\\.)*+)(?:"\s*(:?)|\\?\Z)|[\[\]{}]', re.DOTALL)


class Format(StrEnum):
    """The formats that can be imported."""

    CHATGPT = "chatgpt"
    CLAUDE = "claude"
    OPENWEBUI = "openwebui"
    LIBRECHAT = "librechat"
    JSONL = "jsonl"


_HEADER = re.compile(rb'(?:\xef\xbb\xbf)?\s*\{[^{}\n]*"format"\s*:\s*"stello-graph"')
_BLANK = b" \t\r\n" + BOM_UTF8
# Of JSON that has an object: other texts begin by brackets as well.
_BEGINS = re.compile(rb'\{\s*(?:"|\Z)|\[\s*(?:[\[{"]|\Z)')
_CLOSING = {b"{": b"}", b"[": b"]"}
_MARKS = {
    b"mapping": Format.CHATGPT,
    b"chat_messages": Format.CLAUDE,
    b"chat": Format.OPENWEBUI,
    b"conversationId": Format.LIBRECHAT,
}


def detect(head: bytes) -> Format:
    """The format of a file that begins with `head`, by the keys of its first objects.

    Args:
        head: all of a file that is shorter than `HEAD_SIZE`.

    Raises:
        InvalidInput: none of the formats that can be imported: `EMPTY`, `CUT_OFF` or `NO_EXPORT`.
    """
    if _HEADER.match(head):
        return Format.JSONL
    for key in _outer_keys(head):
        if key in _MARKS:
            return _MARKS[key]
    raise InvalidInput(_why_none(head))


def _why_none(head: bytes) -> str:
    text = head.strip(_BLANK)
    if not text:
        return EMPTY
    if len(head) < HEAD_SIZE and _BEGINS.match(text) and text[-1:] != _CLOSING[text[:1]]:
        return CUT_OFF
    return NO_EXPORT


def _outer_keys(head: bytes) -> Iterator[bytes]:
    """The keys of the objects that stand alone or in one array; `head` may end anywhere."""
    open_brackets: list[bytes] = []
    for token in islice(_TOKEN.finditer(head), MAX_TOKENS):
        bracket = token[0][:1]
        if bracket in b"[{":
            open_brackets.append(bracket)
        elif bracket in b"]}":
            del open_brackets[-1:]
        elif token[2] and open_brackets in ([b"{"], [b"[", b"{"]):
            yield token[1]
