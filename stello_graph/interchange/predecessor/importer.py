"""Writes a store into a Space: each session in a transaction of its own, then what goes across sessions."""

from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Final

from stello_graph.errors import Conflict, InvalidInput, NotFound, SessionArchived, SessionBusy
from stello_graph.interchange.background import in_thread
from stello_graph.interchange.conversations import Malformed
from stello_graph.interchange.plan import Repaired, Skipped
from stello_graph.interchange.predecessor.core import write_core
from stello_graph.interchange.predecessor.forest import MAX_TEXT, Forest, StoredSession
from stello_graph.interchange.predecessor.growth import growth, growth_after
from stello_graph.interchange.predecessor.store import FileStore
from stello_graph.interchange.report import ImportReport, SessionOutcome
from stello_graph.interchange.writing import ARCHIVED, BUSY, CHANGED
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import ImportDraft, StoredTranscript
from stello_graph.ports import SpaceStore

__all__ = ["BELOW_OTHER", "NO_LINK", "NO_PLACE", "NO_TARGET", "OTHER_STORE", "WAS_OPEN", "import_store"]

NO_PLACE: Final = "its parent is not here"
OTHER_STORE: Final = (
    "a session of its id was made at another time: it is of another store, which has a Space of its own"
)
BELOW_OTHER: Final = "its parent here is of another store"
WAS_OPEN: Final = "a call without a result was imported: that stays, though the result came later"
NO_LINK: Final = "a session refers to none that it hangs below, nor to one below it, nor to itself"
NO_TARGET: Final = "the session that it refers to is not here"


async def import_store(
    store: SpaceStore,
    folder: Path,
    on_session: Callable[[int, int], object] = lambda done, all: None,
    *,
    max_text: int = MAX_TEXT,
) -> ImportReport:
    """Imports what the predecessor keeps in `folder`. What is there already stays; a transcript that has
    grown since the last import is extended.

    Args:
        on_session: told after each session how many are done, and how many there are.
        max_text: how many bytes of UTF-8 a prompt, a digest or a record may have.

    Raises:
        NotFound: the Space is gone.
    """
    files = FileStore(folder)
    forest = await in_thread(Forest, files, max_text)
    return await _Import(store, forest, max_text).run(files, on_session)


class _Left(Exception):
    """A session is not written, or not all of it; the text says why."""


class _Import:
    """Attributes: _here are the sessions that stand here, and whether this import made them; _archived are
    those of them that are archived in the store.
    """

    def __init__(self, store: SpaceStore, forest: Forest, max_text: int) -> None:
        self._store = store
        self._forest = forest
        self._max_text = max_text
        self._report = ImportReport()
        self._report.space = store.space_id
        self._here: dict[str, bool] = {}
        self._archived: set[str] = set()
        self._of_others: set[str] = set()
        self._waiting: defaultdict[str, list[str]] = defaultdict(list)

    async def run(self, files: FileStore, on_session: Callable[[int, int], object]) -> ImportReport:
        for skipped in self._forest.skipped:
            self._report.add(skipped)
        sessions, done = self._forest.sessions(), 0
        while (session := await in_thread(next, sessions, None)) is not None:
            self._report.add(session)
            if isinstance(session, StoredSession):
                await self._write(session)
                await self._link(session)
            done += 1
            on_session(done, len(self._forest))
        for ref, ids in self._waiting.items():
            for id in ids:
                self._report.add(_unlinked(id, ref, NO_TARGET))
        await self._write_core(files)
        return self._report

    async def _write(self, session: StoredSession) -> None:
        why = None
        try:
            await self._place(session)
        except _Left as error:
            why = str(error)
        except SessionArchived:
            why = ARCHIVED
        except SessionBusy:
            why = BUSY
        except Conflict:
            why = CHANGED
        except NotFound:
            await self._store.space()
            why = NO_PLACE
        if why is not None:
            self._report.add(Skipped(where=f"session {session.draft.id}", why=why))

    async def _place(self, session: StoredSession) -> None:
        draft = session.draft
        if draft.parent_id in self._of_others:
            self._of_others.add(draft.id)
            raise _Left(BELOW_OTHER)
        stored = (await self._store.stored_transcripts([draft.id]))[draft.id].get(draft.id)
        if stored is None:
            await self._make(session)
        elif await self._is_of_others(draft):
            self._of_others.add(draft.id)
            raise _Left(OTHER_STORE)
        else:
            self._here[draft.id] = False
            await self._extend(session, stored)

    async def _is_of_others(self, draft: ImportDraft) -> bool:
        here = (await self._store.sessions([draft.id])).get(draft.id)
        return here is not None and draft.created_at not in (None, here.created_at)

    async def _make(self, session: StoredSession) -> None:
        draft = session.draft
        if not await self._store.import_session(draft):
            raise Conflict("somebody else has imported it")
        self._here[draft.id] = True
        self._count(session, SessionOutcome.IMPORTED, len(draft.messages))

    async def _extend(self, session: StoredSession, stored: StoredTranscript) -> None:
        id = session.draft.id
        found = await in_thread(growth, stored, session.draft.messages)
        if found.is_apart:
            found = growth_after(await self._ended_at(stored), session.draft.messages)
        if found.messages:
            await self._store.append(id, found.messages, expected_seq=stored.next_seq, turns=found.turns)
        outcome = SessionOutcome.EXTENDED if found.messages else SessionOutcome.PRESENT
        self._count(session, outcome, len(found.messages))
        if found.was_open:
            self._report.add(Repaired(where=f"session {id}", why=WAS_OPEN))
        if found.why_not is not None:
            raise _Left(found.why_not)

    async def _ended_at(self, stored: StoredTranscript) -> int | None:
        last = await self._store.newest_messages(
            [stored.id], after=0, before=stored.next_seq, first=1, roles=None
        )
        return next((message.created_at for message in last.get(stored.id, [])), None)

    def _count(self, session: StoredSession, outcome: SessionOutcome, messages: int) -> None:
        is_fork = session.draft.source_id is not None
        self._report.add_session(outcome, messages=messages, is_fork=is_fork)

    async def _link(self, session: StoredSession) -> None:
        """Links a session with those before it that it refers to, or that refer to it, unless both were
        here: their link may have been removed since.
        """
        id = session.draft.id
        if id not in self._here:
            return
        if session.draft.status is SessionStatus.ARCHIVED:
            self._archived.add(id)
        links = [(source, id) for source in self._waiting.pop(id, [])]
        for ref in session.refs:
            if ref in self._here:
                links.append((id, ref))
            else:
                self._waiting[ref].append(id)
        for source, target in links:
            if self._here[source] or self._here[target]:
                await self._add_ref(source, target)

    async def _add_ref(self, source: str, target: str) -> None:
        try:
            await self._store.add_ref(source, target, of_archived=source in self._archived)
        except InvalidInput:
            self._report.add(_unlinked(source, target, NO_LINK))
        except SessionArchived:
            self._report.add(_unlinked(source, target, ARCHIVED))
        except NotFound:
            self._report.add(_unlinked(source, target, NO_TARGET))

    async def _write_core(self, files: FileStore) -> None:
        try:
            core = await in_thread(files.core)
        except Malformed as error:
            self._report.add(Skipped(where="core data", why=str(error)))
            return
        await write_core(self._store, core, self._max_text, self._report)


def _unlinked(id: str, ref: str, why: str) -> Skipped:
    return Skipped(where=f"session {id}, ref to {ref}", why=why)
