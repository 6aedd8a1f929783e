"""Brings a file of the own format into a Space.

It is read twice: once to know what it tells of and where, then session by session, parents first. Ids of
sessions and their links are all that is kept in memory of the whole file.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import IO, Final

from stello_graph.interchange.background import in_thread
from stello_graph.interchange.jsonl.beside import restore_beside
from stello_graph.interchange.jsonl.drafting import Drafting, Known
from stello_graph.interchange.jsonl.lines import Kind
from stello_graph.interchange.jsonl.links import Links
from stello_graph.interchange.jsonl.loading import Loaded, Loader
from stello_graph.interchange.jsonl.order import Placed, placed
from stello_graph.interchange.jsonl.renewal import Ids, Renewed
from stello_graph.interchange.jsonl.scan import Scan
from stello_graph.interchange.plan import Repaired, Skipped
from stello_graph.interchange.report import ImportReport, SessionOutcome
from stello_graph.model.copies import RestoreDraft
from stello_graph.ports import SpaceStore

__all__ = ["restore"]

CHANGED: Final = "what it hangs on was deleted meanwhile"

_PAGE: Final = 500
_SESSIONS: Final = 200
_MESSAGES: Final = 1_000
_TRIES: Final = 5


async def restore(
    store: SpaceStore,
    stream: IO[bytes],
    report: ImportReport,
    *,
    max_line: int,
    new_ids: bool = False,
    as_admin: bool = True,
    on_read: Callable[[int], object] = lambda at: None,
) -> None:
    """Stores what the Space does not have yet; nothing that it has is changed.

    Args:
        stream: seekable.
        max_line: a longer line is skipped.
        new_ids: gives everything a new id, so that all of it is new to the Space.
        as_admin: whether who imports may also change settings, skills and fork profiles.
        on_read: told how far the file is read, in bytes; what is read a second time is not told.

    Raises:
        InvalidInput: the file does not begin with a header that is known; nothing was written.
        NotFound: the Space is gone.
    """
    now = time.time_ns() // 1_000
    await store.space()
    scan = Scan(stream, max_line, now)
    steps = scan.steps()
    while await in_thread(next, steps, False):
        _tell(report, scan.remarks)
        scan.remarks.clear()
        on_read(scan.at)
    report.conversations += len(scan.sessions)
    await restore_beside(store, stream, scan.beside, report, max_line=max_line, now=now, as_admin=as_admin)
    ids = Renewed(scan.sessions.values()) if new_ids else Ids()
    present = await _existing(store, map(ids.session, scan.sessions))
    outside = set() if new_ids else await _existing(store, _named_outside(scan))
    order, repaired = await in_thread(placed, scan.sessions, outside)
    _tell(report, repaired)
    links = await in_thread(Links, scan.sessions, order, outside, ids)
    _tell(report, links.skipped)
    there = [id for id in scan.sessions if ids.session(id) in present]
    for _ in there:
        report.add_session(SessionOutcome.PRESENT, messages=0, is_fork=False)
    links.stored(there)
    known = set(there)
    loader = Loader(stream, max_line, now, scan.sessions)
    lots = _Lots(store, loader, ids, links, report)
    for one in order:
        if one.entry.id not in known:
            await lots.add(one)
    await lots.flush()


class _Lots:
    """Stores sessions some at a time."""

    def __init__(
        self, store: SpaceStore, loader: Loader, ids: Ids, links: Links, report: ImportReport
    ) -> None:
        self._store = store
        self._loader = loader
        self._ids = ids
        self._links = links
        self._report = report
        self._lot: dict[str, tuple[Placed, Loaded]] = {}
        self._messages = 0

    async def add(self, one: Placed) -> None:
        """A session whose parent is stored, or comes with those before it."""
        if one.parent_id in self._lot:
            await self.flush()
        loaded = await in_thread(self._loader.load, one.entry)
        self._lot[one.entry.id] = one, loaded
        self._messages += len(loaded.told)
        if len(self._lot) >= _SESSIONS or self._messages >= _MESSAGES:
            await self.flush()

    async def flush(self) -> None:
        """Stores what was added, without what somebody else has made or taken away meanwhile."""
        lot, self._lot, self._messages = self._lot, {}, 0
        for _ in range(_TRIES):
            if not lot:
                return
            known = await self._known({id: loaded for id, (_, loaded) in lot.items()})
            drafting = Drafting(self._ids, known)
            drafts = await in_thread(_drafted, drafting, list(lot.values()))
            if await self._store.restore_sessions(drafts, self._links.coming_with(lot)):
                _tell(self._report, drafting.remarks)
                self._links.stored(lot)
                self._count(drafts, set(known.messages))
                return
            lot = await self._still_missing(lot)
        for id in lot:
            self._report.add(Skipped(where=f"session {id}", why=CHANGED))

    async def _known(self, lot: Mapping[str, Loaded]) -> Known:
        """What the store has of the messages and turns of a lot, and the messages that it shares."""
        messages: dict[str, tuple[str, int]] = {}
        for page in _pages(
            self._ids.other(Kind.MESSAGE, told.home or id, told.message_id)
            for id, loaded in lot.items()
            for told in loaded.told
        ):
            messages |= await self._store.written_messages(page)
        turns: set[str] = set()
        for page in _pages(
            self._ids.other(Kind.TURN, id, turn.id) for id, loaded in lot.items() for turn in loaded.turns
        ):
            turns |= await self._store.taken_turns(page)
        return Known(messages, turns, await in_thread(self._loader.at_home, lot))

    async def _still_missing(self, lot: dict[str, tuple[Placed, Loaded]]) -> dict[str, tuple[Placed, Loaded]]:
        """What of a lot can be tried again, now that it is known what has come and gone."""
        above = {one.parent_id for one, _ in lot.values() if one.parent_id is not None}
        ends = self._links.ends_with(lot)
        there = await _existing(self._store, map(self._ids.session, [*lot, *above, *ends]))
        _tell(self._report, self._links.lost([id for id in ends if self._ids.session(id) not in there]))
        missing = {}
        for id, (one, loaded) in lot.items():
            if self._ids.session(id) in there:
                self._links.stored([id])
                self._report.add_session(SessionOutcome.PRESENT, messages=0, is_fork=False)
            elif one.parent_id is not None and self._ids.session(one.parent_id) not in there:
                self._report.add(Skipped(where=loaded.where, why=CHANGED))
            else:
                missing[id] = one, loaded
        return missing

    def _count(self, drafts: Sequence[RestoreDraft], stored: set[str]) -> None:
        """`stored`: the messages that were there before."""
        for draft in drafts:
            new = {place.message_id for place in draft.places} - stored
            stored |= new
            is_fork = draft.session.source_session_id is not None
            self._report.add_session(SessionOutcome.IMPORTED, messages=len(new), is_fork=is_fork)


def _drafted(drafting: Drafting, lot: Sequence[tuple[Placed, Loaded]]) -> list[RestoreDraft]:
    return [drafting.draft(one, loaded) for one, loaded in lot]


def _named_outside(scan: Scan) -> Iterator[str]:
    """Parents and ends of links that the file does not tell of."""
    for entry in scan.sessions.values():
        for id in (entry.parent_id, *(ref.to_id for ref in entry.refs)):
            if id is not None and id not in scan.sessions:
                yield id


async def _existing(store: SpaceStore, ids: Iterable[str]) -> set[str]:
    found: set[str] = set()
    for page in _pages(dict.fromkeys(ids)):
        found |= (await store.nodes(page)).keys()
    return found


def _pages(ids: Iterable[str]) -> Iterator[list[str]]:
    given = list(ids)
    return (given[start : start + _PAGE] for start in range(0, len(given), _PAGE))


def _tell(report: ImportReport, remarks: Iterable[Skipped | Repaired]) -> None:
    for remark in remarks:
        report.add(remark)
