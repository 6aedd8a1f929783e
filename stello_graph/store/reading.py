"""Reads that count: rows with texts, for an answer that has a limit."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from stello_graph.ports.answers import current_answer

__all__ = ["Reading", "reading"]


class Reading:
    """One read.

    Attributes:
        most: characters that its rows may hold.
        of_rows: how many each row holds, told by the engine.
        characters: of all rows; more than `most` where it took no rows.
    """

    def __init__(self, most: int) -> None:
        self.most = most
        self.of_rows: list[int] = []
        self.characters = 0

    @property
    def is_refused(self) -> bool:
        """Whether the rows hold more than they may, so that none were taken."""
        return self.characters > self.most


@asynccontextmanager
async def reading() -> AsyncIterator[Reading | None]:
    """Counts a read of texts where it is made for an answer, else gives None.

    Those of one answer follow each other.

    Raises, at the end of the block:
        LimitExceeded: more than the answer may read.
    """
    answer = current_answer()
    if answer is None:
        yield None
        return
    async with answer.reading:
        one = Reading(answer.left)
        yield one
        answer.has_read(one.characters)
        if one.is_refused:
            raise answer.refusal
