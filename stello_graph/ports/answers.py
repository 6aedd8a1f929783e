"""How much one answer may hold: what its texts take, and what is read for it.

An operation has one `Answer`, which whatever runs in its context finds here: the store counts the texts
that it reads for it, GraphQL those that it tells.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Final

from stello_graph.errors import LimitExceeded

__all__ = ["READ_FACTOR", "Answer", "answering", "current_answer", "leave_answer", "text_bytes"]

# Texts that are read and not told, such as prompts of listed sessions, count here alone.
READ_FACTOR: Final = 4


class Answer:
    """The answer of an operation, or each single result of a stream.

    Attributes:
        reading: held while texts are read, so that what is left bounds all reads together.
        refused: whether it came to be too large.
    """

    def __init__(self, most: int) -> None:
        """At most so many bytes of UTF-8."""
        self.reading = asyncio.Lock()
        self.refused = False
        self._most = most
        self._told = self._read = 0
        self._over = False

    @property
    def is_over(self) -> bool:
        """Whether nothing counts any more."""
        return self._over

    @property
    def left(self) -> int:
        """How many characters may still be read for it."""
        return max(0, READ_FACTOR * self._most - self._read)

    @property
    def refusal(self) -> LimitExceeded:
        """Why it is refused."""
        self.refused = True
        return LimitExceeded(
            f"the texts of an answer have at most {self._most} bytes, and what is read for it four times as "
            "many: use a smaller first, or ask for fewer fields"
        )

    def has_read(self, characters: int) -> None:
        """Counts what was read for it."""
        self._read += characters

    def tells(self, value: Any) -> None:
        """Counts a value that goes into it."""
        self._told += text_bytes(value)
        if self._told > self._most:
            self.refused = True

    def renew(self) -> None:
        """Begins with the next result of a stream, in the task that asks for it."""
        self.refused = False
        self._told = self._read = 0
        _CURRENT.set(self)

    def end(self) -> None:
        """What still runs in its context is not for it."""
        self._over = True


_CURRENT: ContextVar[Answer | None] = ContextVar("_CURRENT", default=None)


def current_answer() -> Answer | None:
    """The answer that is made here, if any."""
    answer = _CURRENT.get()
    return None if answer is None or answer.is_over else answer


def leave_answer() -> None:
    """What runs here from now on is not for the answer in whose context it began."""
    _CURRENT.set(None)


@contextmanager
def answering(most: int) -> Iterator[Answer]:
    """The answer that the block makes."""
    before, answer = _CURRENT.get(), Answer(most)
    _CURRENT.set(answer)
    try:
        yield answer
    finally:
        answer.end()
        # Not by a token: a stream may be closed in another context than it was begun in.
        if _CURRENT.get() is answer:
            _CURRENT.set(before)


def text_bytes(value: Any) -> int:
    """The bytes of UTF-8 of all texts in a value of JSON."""
    if isinstance(value, str):
        return len(value) if value.isascii() else len(value.encode(errors="surrogatepass"))
    if isinstance(value, dict):
        return sum(map(text_bytes, value)) + sum(map(text_bytes, value.values()))
    if not isinstance(value, list | tuple):
        return 0
    try:
        # Of texts alone, at once.
        return text_bytes("".join(value))
    except TypeError:
        texts = [one for one in value if isinstance(one, str)]
        return text_bytes("".join(texts)) + sum(text_bytes(one) for one in value if not isinstance(one, str))
