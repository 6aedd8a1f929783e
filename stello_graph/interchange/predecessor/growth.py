"""What a transcript of the store says that is not here yet."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stello_graph.model.message import Draft, turns_of
from stello_graph.model.writes import StoredTranscript

__all__ = ["GONE", "WENT_ON", "Growth", "growth"]

WENT_ON: Final = "its session here ends otherwise: what came after is not added"
GONE: Final = "none of its messages is here any more: what it says is not added again"

_OPEN = ":.open"
# An id of `Transcript`, its number among those that say the same, and the number given here.
_ID = re.compile(r"(.*:[0-9a-f]{32})(?:\.\d+)?(?::\.open)?((?::\.1(?:\.\d+)?)?)(?:-\d+)?")


@dataclass(frozen=True, slots=True)
class Growth:
    """How a transcript has grown.

    Attributes:
        messages: what comes after the last message here, with ids that are free here.
        turns: how many turns they end.
        why_not: why nothing is to be added, though the store may say more.
        was_open: whether a call is here without the result that the store has by now.
    """

    messages: tuple[Draft, ...] = ()
    turns: int = 0
    why_not: str | None = None
    was_open: bool = False


def growth(stored: StoredTranscript, drafts: Sequence[Draft]) -> Growth:
    """Compares what is here with all that the store says. Either may have been trimmed at its beginning."""
    if stored.next_seq == 1:
        return Growth(tuple(drafts), turns_of(drafts))
    here, there = [_said(id) for id in stored.message_ids], [_said(draft.id) for draft in drafts]
    known = set(there)
    common = next((length for length in range(len(here), 0, -1) if here[length - 1] in known), 0)
    if common == 0:
        return Growth(why_not=GONE if drafts else None)
    length = _end(here[:common], there) + 1
    more = drafts[length:]
    was_open = not _opened(stored.message_ids).isdisjoint(draft.id for draft in drafts)
    if common < len(here):
        return Growth(why_not=WENT_ON if more else None, was_open=was_open)
    new = tuple(_numbered_on(more, set(stored.message_ids)))
    return Growth(new, turns_of(drafts) - turns_of(drafts[:length]), was_open=was_open)


def _said(id: str) -> str:
    """What a message says and when, by its id: the same also once a call has its result, and whichever of
    those that say the same it is, which a trim changes.
    """
    found = _ID.fullmatch(id)
    return found[1] + found[2] if found else id


def _opened(ids: Sequence[str]) -> set[str]:
    """The ids that messages with open calls have once these have results."""
    return {id.replace(_OPEN, "") for id in ids if _OPEN in id}


def _end(here: Sequence[str], there: Sequence[str]) -> int:
    """The place there of the last message here; of several that say the same, the first one of those before
    which most agrees: then nothing is added twice.
    """
    agreements = _agreements(here, there)
    return max(range(len(there)), key=agreements.__getitem__)


def _agreements(here: Sequence[str], there: Sequence[str]) -> list[int]:
    """For each place there, how many messages up to it are the last ones here: Gusfield's Z algorithm, which
    takes linear time.
    """
    said = [*reversed(here), None, *reversed(there)]
    alike = [0] * len(said)
    begin = end = 0
    for at in range(1, len(said)):
        size = min(end - at, alike[at - begin]) if at < end else 0
        while at + size < len(said) and said[size] == said[at + size]:
            size += 1
        alike[at] = size
        if at + size > end:
            begin, end = at, at + size
    return alike[: len(here) : -1]


def _numbered_on(drafts: Sequence[Draft], taken: set[str]) -> Iterator[Draft]:
    for draft in drafts:
        id, number = draft.id, 1
        while id in taken:
            number += 1
            id = f"{draft.id}-{number}"
        taken.add(id)
        yield draft if id == draft.id else draft.model_copy(update={"id": id})
