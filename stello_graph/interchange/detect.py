"""Tells which format a file has by its beginning."""

import re
from collections.abc import Iterator
from enum import StrEnum
from itertools import islice

from stello_graph.errors import InvalidInput

__all__ = ["HEAD_SIZE", "MAX_TOKENS", "Format", "detect"]

HEAD_SIZE = 1 << 20
"""How many bytes of a file `detect` wants to see."""

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
_MARKS = {
    b"mapping": Format.CHATGPT,
    b"chat_messages": Format.CLAUDE,
    b"chat": Format.OPENWEBUI,
    b"conversationId": Format.LIBRECHAT,
}


def detect(head: bytes) -> Format:
    """The format of a file that begins with `head`, by the keys of its first objects.

    Raises:
        InvalidInput: none of the formats that can be imported.
    """
    if _HEADER.match(head):
        return Format.JSONL
    for key in _outer_keys(head):
        if key in _MARKS:
            return _MARKS[key]
    raise InvalidInput(f"this is no file that can be imported; known formats: {', '.join(Format)}")


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
