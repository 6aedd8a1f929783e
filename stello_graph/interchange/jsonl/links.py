"""Links between sessions: each is stored with the later one of its two ends."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from stello_graph.interchange.jsonl.order import Placed, spans
from stello_graph.interchange.jsonl.renewal import Ids
from stello_graph.interchange.jsonl.scan import Entry
from stello_graph.interchange.plan import Skipped
from stello_graph.model.copies import RefDraft

__all__ = ["Links"]

NO_TARGET: Final = "a link to what is not there"
IN_LINE: Final = "a link to itself, to what it hangs below, or to what hangs below it"

# Before the numbers of all links that are made here, which begin at 1.
_BEFORE_ALL: Final = -(2**62)
_LATEST: Final = 2**53


@dataclass(frozen=True, slots=True)
class _Link:
    where: str
    from_id: str
    to_id: str
    at: int
    order: int


class Links:
    """The links of a file that lead somewhere.

    Attributes:
        skipped: the others.
    """

    def __init__(
        self,
        sessions: Mapping[str, Entry],
        order: Sequence[Placed],
        outside: Collection[str],
        above: Mapping[str, Collection[str]],
        ids: Ids,
    ) -> None:
        """Of the links of `sessions`.

        Args:
            outside: what is not in the file and exists.
            above: of those that come below what exists, what exists above them.
        """
        self._spans = spans(order)
        self._above = above
        self.skipped: list[Skipped] = []
        self._ids = ids
        self._of: dict[str, dict[_Link, None]] = defaultdict(dict)
        self._there = set(outside)
        found = [link for entry in sessions.values() for link in self._links(entry, sessions)]
        last = 0
        for link in sorted(found, key=lambda link: (link.order, link.from_id)):
            last = max(last + 1, link.order)
            kept = replace(link, order=_BEFORE_ALL + last)
            self._of[link.from_id][kept] = self._of[link.to_id][kept] = None

    def stored(self, session_ids: Iterable[str]) -> None:
        """Notes that these sessions of the file are there."""
        self._there.update(session_ids)

    def ends_with(self, session_ids: Iterable[str]) -> set[str]:
        """The sessions beside these that links of theirs need, and that were there."""
        links = [link for id in session_ids for link in self._of.get(id, ())]
        return {id for link in links for id in (link.from_id, link.to_id) if id in self._there}

    def lost(self, session_ids: Collection[str]) -> list[Skipped]:
        """Notes that sessions are gone, or do not come, and tells of the links that need them."""
        self._there.difference_update(session_ids)
        lost = {link for id in session_ids for link in self._of.get(id, ())}
        for link in lost:
            del self._of[link.from_id][link], self._of[link.to_id][link]
        return [Skipped(where=link.where, why=NO_TARGET) for link in sorted(lost, key=lambda one: one.order)]

    def coming_with(self, session_ids: Collection[str]) -> list[RefDraft]:
        """Those whose later end is among these sessions, which are stored together."""
        coming = set(session_ids)
        links = {
            (link.from_id, link.to_id): link
            for id in session_ids
            for link in self._of.get(id, ())
            if self._is_there(link.from_id, coming) and self._is_there(link.to_id, coming)
        }
        return [
            RefDraft(
                from_id=self._ids.session(link.from_id),
                to_id=self._ids.session(link.to_id),
                at=link.at,
                order=link.order,
            )
            for link in sorted(links.values(), key=lambda link: (link.order, link.from_id))
        ]

    def _is_there(self, id: str, coming: set[str]) -> bool:
        return id in coming or id in self._there

    def _is_in(self, id: str, other: str) -> bool:
        """Whether one session is another one, or hangs below it."""
        start, end = self._spans.get(other, (0, 0))
        return (id in self._spans and start <= self._spans[id][0] < end) or other in self._above.get(id, ())

    def _links(self, entry: Entry, sessions: Mapping[str, Entry]) -> Iterator[_Link]:
        """By time, and of one session in its order also where times are equal or go back."""
        order = 0
        seen = set()
        for ref in entry.refs:
            where = f"line {entry.line}, session {entry.id}"
            if self._is_in(ref.to_id, entry.id) or self._is_in(entry.id, ref.to_id):
                self.skipped.append(Skipped(where=where, why=IN_LINE))
            elif ref.to_id not in sessions and ref.to_id not in self._there:
                self.skipped.append(Skipped(where=where, why=NO_TARGET))
            elif ref.to_id not in seen:
                seen.add(ref.to_id)
                order = max(order + 1, min(ref.at, _LATEST))
                yield _Link(where, entry.id, ref.to_id, ref.at, order)
