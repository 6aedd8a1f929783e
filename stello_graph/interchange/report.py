"""What an import did, for the command line and for the answer of `POST /import`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any, Protocol

from stello_graph.interchange.plan import NotLookedAt, Remark, Repaired, Skipped

__all__ = ["BesideOutcome", "ImportReport", "Read", "SessionOutcome"]

MAX_DETAILS = 100
_MAX_NAMES = 3


class SessionOutcome(StrEnum):
    """What became of a session: made, extended, or found to be there already."""

    IMPORTED = "IMPORTED"
    EXTENDED = "EXTENDED"
    PRESENT = "PRESENT"


class BesideOutcome(StrEnum):
    """What became of something that belongs to no session: stored, there already as it is, there already in
    another form, which stays, or not stored for another reason.
    """

    IMPORTED = "IMPORTED"
    PRESENT = "PRESENT"
    DIFFERENT = "DIFFERENT"
    LEFT = "LEFT"


class Read(Protocol):
    """What was read of a conversation or session, and how."""

    @property
    def skipped(self) -> Sequence[Skipped]:
        """What is left out of it."""

    @property
    def repaired(self) -> Sequence[Repaired]:
        """What is not as the file has it."""

    @property
    def hidden(self) -> int:
        """How many messages say nothing."""


class ImportReport:
    """Counts while an import runs. Its size is bounded: counts by reason, and the first details only.

    Attributes:
        space: the Space that is imported into.
        beside: what became of what is beside the sessions: settings, records, shared memories, skills, fork
            profiles.
        within: the file whose remarks come now, empty where that is known or they name it themselves.
    """

    def __init__(self, max_details: int = MAX_DETAILS) -> None:
        self.space = ""
        self.conversations = 0
        self.sessions: Counter[SessionOutcome] = Counter()
        self.beside: Counter[BesideOutcome] = Counter()
        self.forks = 0
        self.messages = 0
        self.hidden = 0
        self.within = ""
        self.skipped = _Remarks(max_details)
        self.repaired = _Remarks(max_details)
        self.not_looked_at = _Remarks(min(max_details, _MAX_NAMES))

    @property
    def imported_anything_valid(self) -> bool:
        """Whether the file held something, be it stored already: the import succeeded."""
        return self.conversations + self.beside.total() > 0

    def add(self, item: Read | Skipped | Repaired | NotLookedAt) -> None:
        """Counts what a reader yielded, but not what became of it."""
        match item:
            case Skipped():
                self.skipped.add(item.inside(self.within))
            case Repaired():
                self.repaired.add(item.inside(self.within))
            case NotLookedAt():
                self.not_looked_at.add(item)
            case _:
                self._add_read(item)

    def _add_read(self, item: Read) -> None:
        self.conversations += 1
        self.hidden += item.hidden
        for skipped in item.skipped:
            self.skipped.add(skipped)
        for repaired in item.repaired:
            self.repaired.add(repaired)

    def add_all(self, remarks: Iterable[Skipped | Repaired]) -> None:
        """Counts some remarks."""
        for remark in remarks:
            self.add(remark)

    def add_session(self, outcome: SessionOutcome, *, messages: int, is_fork: bool) -> None:
        """Counts what became of a session.

        Args:
            messages: how many were stored for it, shared ones not counted.
            is_fork: only newly made forks are counted as such.
        """
        self.sessions[outcome] += 1
        self.messages += messages
        self.forks += is_fork and outcome is SessionOutcome.IMPORTED

    def add_beside(self, outcome: BesideOutcome) -> None:
        """Counts what belongs to no session: settings, a record, a shared memory, a skill, a profile."""
        self.beside[outcome] += 1

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "space": self.space,
            "conversations": self.conversations,
            "sessions": {outcome.lower(): self.sessions[outcome] for outcome in SessionOutcome},
            "beside": {outcome.lower(): self.beside[outcome] for outcome in BesideOutcome},
            "forks": self.forks,
            "messages": self.messages,
            "hidden": self.hidden,
            "skipped": self.skipped.to_dict(),
            "repaired": self.repaired.to_dict(),
            "notLookedAt": self.not_looked_at.to_dict(),
            "importedAnythingValid": self.imported_anything_valid,
        }

    def lines(self) -> Iterator[str]:
        """As text for people."""
        if self.imported_anything_valid:
            yield from self._counts()
        else:
            yield "Nothing that can be imported was found."
        if self.hidden:
            yield f"Left out as hidden or empty: {self.hidden}"
        yield from self.skipped.lines("Skipped")
        yield from self.repaired.lines("Repaired")
        yield from self.not_looked_at.lines("Not looked at")

    def _counts(self) -> Iterator[str]:
        made, extended, present = (self.sessions[outcome] for outcome in SessionOutcome)
        yield f"Conversations read: {self.conversations}"
        yield f"Sessions: {made} imported ({self.forks} of them forks), {extended} extended"
        yield f"Sessions there already: {present}"
        yield f"Messages imported: {self.messages}"
        stored, same, different, left = (self.beside[outcome] for outcome in BesideOutcome)
        if self.beside:
            yield (
                f"Settings, records, memories, skills, profiles: {stored} imported, {same} there already"
                + (f", {different} differ and stay as they are here" if different else "")
                + (f", {left} left out" if left else "")
            )
        if made or extended or stored:
            return
        if different:
            yield "Nothing was added: what differs from what is there was left."
        else:
            yield "Nothing was added." if left else "Nothing was added: all of it is there already."


class _Remarks:
    def __init__(self, max_details: int) -> None:
        self._max_details = max_details
        self._reasons: Counter[str] = Counter()
        self._details: list[Remark] = []

    def add(self, remark: Remark) -> None:
        self._reasons[remark.why] += 1
        if len(self._details) < self._max_details:
            self._details.append(remark)

    def to_dict(self) -> dict[str, Any]:
        return {
            "count": self._reasons.total(),
            "reasons": dict(self._reasons.most_common()),
            "details": [{"where": each.where, "why": each.why} for each in self._details],
        }

    def lines(self, title: str) -> Iterator[str]:
        for why, count in self._reasons.most_common():
            yield f"{title}, {count}: {why}"
            places = [each.where for each in self._details if each.why == why]
            yield from (f"  {where}" for where in places)
            if count > len(places):
                yield f"  and {count - len(places)} more"
