"""What an import did, for the command line and for the answer of `POST /import`."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum
from typing import Any, Protocol

from stello_graph.interchange.plan import Repaired, Skipped

__all__ = ["ImportReport", "Read", "SessionOutcome"]

MAX_DETAILS = 100


class SessionOutcome(StrEnum):
    """What became of a session: made, extended, or found to be there already."""

    IMPORTED = "IMPORTED"
    EXTENDED = "EXTENDED"
    PRESENT = "PRESENT"


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
        records: how many records (L1) were written.
        known_records: how many were there already.
        beside: what an own export holds beside its sessions: what became of it.
        within: the file whose remarks come now, empty where that is known or they name it themselves.
    """

    def __init__(self, max_details: int = MAX_DETAILS) -> None:
        self.conversations = 0
        self.sessions: Counter[SessionOutcome] = Counter()
        self.beside: Counter[SessionOutcome] = Counter()
        self.forks = 0
        self.messages = 0
        self.hidden = 0
        self.records = self.known_records = 0
        self.within = ""
        self.skipped = _Remarks(max_details)
        self.repaired = _Remarks(max_details)

    @property
    def imported_anything_valid(self) -> bool:
        """Whether the file held something, be it stored already: the import succeeded."""
        return self.conversations + self.records + self.known_records + self.beside.total() > 0

    def add(self, item: Read | Skipped | Repaired) -> None:
        """Counts what a reader yielded, but not what became of it."""
        if isinstance(item, Skipped):
            self.skipped.add(item.inside(self.within))
            return
        if isinstance(item, Repaired):
            self.repaired.add(item.inside(self.within))
            return
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

    def add_beside(self, outcome: SessionOutcome) -> None:
        """Counts what belongs to no session: settings, a record, a shared memory, a skill, a profile."""
        self.beside[outcome] += 1

    def to_dict(self) -> dict[str, Any]:
        """As JSON."""
        return {
            "conversations": self.conversations,
            "sessions": {outcome.lower(): self.sessions[outcome] for outcome in SessionOutcome},
            "beside": {
                outcome.lower(): self.beside[outcome]
                for outcome in (SessionOutcome.IMPORTED, SessionOutcome.PRESENT)
            },
            "forks": self.forks,
            "messages": self.messages,
            "hidden": self.hidden,
            "skipped": self.skipped.to_dict(),
            "repaired": self.repaired.to_dict(),
            "importedAnythingValid": self.imported_anything_valid,
        }

    def lines(self) -> Iterator[str]:
        """As text for people."""
        made, extended, present = (self.sessions[outcome] for outcome in SessionOutcome)
        if not self.imported_anything_valid:
            yield "Nothing that can be imported was found."
        else:
            yield f"Conversations read: {self.conversations}"
            yield f"Sessions: {made} imported ({self.forks} of them forks), {extended} extended"
            yield f"Sessions there already: {present}"
            yield f"Messages imported: {self.messages}"
            if self.records:
                yield f"Records imported: {self.records}"
            if self.beside:
                stored, there = (
                    self.beside[one] for one in (SessionOutcome.IMPORTED, SessionOutcome.PRESENT)
                )
                yield f"Settings, records, memories, skills, profiles: {stored} imported, {there} present"
            beside = self.records + self.beside[SessionOutcome.IMPORTED]
            if not made and not extended and not beside:
                yield "Nothing was added: all of it is there already."
        if self.hidden:
            yield f"Left out as hidden or empty: {self.hidden}"
        yield from self.skipped.lines("Skipped")
        yield from self.repaired.lines("Repaired")


class _Remarks:
    def __init__(self, max_details: int) -> None:
        self._max_details = max_details
        self._reasons: Counter[str] = Counter()
        self._details: list[Skipped | Repaired] = []

    def add(self, remark: Skipped | Repaired) -> None:
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
