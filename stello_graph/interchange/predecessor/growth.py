"""What a transcript of the store says that is not here yet."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from stello_graph.interchange.names import call_id
from stello_graph.model.message import Draft, turns_of
from stello_graph.model.writes import StoredTranscript

__all__ = ["APART", "GONE", "WENT_ON", "Growth", "growth", "growth_after"]

WENT_ON: Final = "its session here ends otherwise: what came after is not added"
GONE: Final = "none of its messages is here: what it says is not added again"
APART: Final = "its file has none of the messages that are here, and not only later ones: they are not added"

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
        is_apart: whether the two have no message in common though some of its messages are here: only times
            can tell what is new, see `growth_after`.
    """

    messages: tuple[Draft, ...] = ()
    turns: int = 0
    why_not: str | None = None
    was_open: bool = False
    is_apart: bool = False


def growth(stored: StoredTranscript, drafts: Sequence[Draft]) -> Growth:
    """Compares what is here with all that the store says. Either may have been trimmed at its beginning."""
    if stored.next_seq == 1:
        return Growth(tuple(drafts), turns_of(drafts))
    here, there = [_said(id) for id in stored.message_ids], [_said(draft.id) for draft in drafts]
    known = set(there)
    common = next((length for length in range(len(here), 0, -1) if here[length - 1] in known), 0)
    if common == 0:
        return _apart(stored.message_ids) if drafts else Growth()
    length = _end(here[:common], there) + 1
    more = drafts[length:]
    was_open = not _opened(stored.message_ids).isdisjoint(draft.id for draft in drafts)
    if common < len(here):
        return Growth(why_not=WENT_ON if more else None, was_open=was_open)
    new = tuple(_numbered_on(more, set(stored.message_ids)))
    return Growth(new, turns_of(drafts) - turns_of(drafts[:length]), was_open=was_open)


def growth_after(ended_at: int | None, drafts: Sequence[Draft]) -> Growth:
    """All that the store says, if that is later than the last message here: it was trimmed there meanwhile.

    Args:
        ended_at: when the last message here was said; None where nobody knows.
    """
    times = [draft.created_at for draft in drafts]
    if ended_at is not None and all(at is not None and at > ended_at for at in times):
        return Growth(tuple(drafts), turns_of(drafts))
    return Growth(why_not=APART)


def _apart(here: Sequence[str]) -> Growth:
    if not any(map(_ID.fullmatch, here)):
        return Growth(why_not=GONE)
    return Growth(is_apart=True) if _ID.fullmatch(here[-1]) else Growth(why_not=WENT_ON)


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
    """With ids that are free, of the calls as well."""
    calls: dict[str | None, str] = {}
    for draft in drafts:
        id = _free(draft.id, taken)
        taken.add(id)
        if id != draft.id:
            calls |= {call.id: call_id(f"{id}.{place}") for place, call in enumerate(draft.tool_calls, 1)}
            called = [call.model_copy(update={"id": calls[call.id]}) for call in draft.tool_calls]
            draft = draft.model_copy(update={"id": id, "tool_calls": tuple(called)})
        if draft.tool_call_id in calls:
            draft = draft.model_copy(update={"tool_call_id": calls[draft.tool_call_id]})
        yield draft


def _free(id: str, taken: set[str]) -> str:
    free, number = id, 1
    while free in taken:
        number += 1
        free = f"{id}-{number}"
    return free
