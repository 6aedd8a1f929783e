"""Writes a store into a Space: each session in a transaction of its own, then what goes across sessions."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

from stello_graph.errors import Conflict, InvalidInput, NotFound, SessionArchived, SessionBusy
from stello_graph.interchange.background import in_thread
from stello_graph.interchange.conversations import Malformed
from stello_graph.interchange.plan import Skipped
from stello_graph.interchange.predecessor.core import write_core
from stello_graph.interchange.predecessor.forest import MAX_TEXT, Forest, StoredSession
from stello_graph.interchange.predecessor.store import FileStore
from stello_graph.interchange.report import ImportReport, SessionOutcome
from stello_graph.interchange.writing import ARCHIVED, BUSY, CHANGED
from stello_graph.model.message import turns_of
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import StoredTranscript
from stello_graph.ports import SpaceStore

__all__ = ["NO_PLACE", "WENT_ON", "import_store"]

NO_PLACE: Final = "its parent is not here any more"
WENT_ON: Final = "its session here ends otherwise: what came after is not added"

_MAX_REFS = 1_000


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


class _Import:
    def __init__(self, store: SpaceStore, forest: Forest, max_text: int) -> None:
        self._store = store
        self._forest = forest
        self._max_text = max_text
        self._report = ImportReport()
        self._refs: dict[str, tuple[str, ...]] = {}
        self._to_archive: list[str] = []

    async def run(self, files: FileStore, on_session: Callable[[int, int], object]) -> ImportReport:
        for skipped in self._forest.skipped:
            self._report.add(skipped)
        sessions, done = self._forest.sessions(), 0
        while (session := await in_thread(next, sessions, None)) is not None:
            self._report.add(session)
            if isinstance(session, StoredSession):
                await self._write(session)
            done += 1
            on_session(done, len(self._forest))
        for id, refs in self._refs.items():
            await self._link(id, refs)
        for id in self._to_archive:
            await self._store.set_status(id, SessionStatus.ARCHIVED)
        await self._write_core(files)
        return self._report

    async def _write(self, session: StoredSession) -> None:
        draft = session.draft
        why = None
        try:
            stored = (await self._store.stored_transcripts(draft.id)).get(draft.id)
            await (self._make(session) if stored is None else self._extend(session, stored))
        except SessionArchived:
            why = ARCHIVED
        except SessionBusy:
            why = BUSY
        except Conflict as error:
            why = WENT_ON if error.message == WENT_ON else CHANGED
        except NotFound:
            await self._store.space()
            why = NO_PLACE
        if why is not None:
            self._report.add(Skipped(where=f"session {draft.id}", why=why))
        if session.refs:
            self._refs[draft.id] = session.refs

    async def _make(self, session: StoredSession) -> None:
        draft = session.draft
        if session.refs and draft.status is SessionStatus.ARCHIVED:
            # An archived one takes no refs, which need their targets.
            self._to_archive.append(draft.id)
            draft = draft.model_copy(update={"status": SessionStatus.ACTIVE})
        if not await self._store.import_session(draft):
            raise Conflict("somebody else has imported it")
        self._count(session, SessionOutcome.IMPORTED, len(draft.messages))

    async def _extend(self, session: StoredSession, stored: StoredTranscript) -> None:
        messages = session.draft.messages
        places = {message.id: place for place, message in enumerate(messages)}
        end = places.get(stored.message_ids[-1]) if stored.message_ids else -1
        if end is None:
            self._count(session, SessionOutcome.PRESENT, 0)
            if places.keys() - set(stored.message_ids):
                raise Conflict(WENT_ON)
            return
        more = messages[end + 1 :]
        if more:
            await self._store.append(
                session.draft.id, more, expected_seq=stored.next_seq, turns=turns_of(more)
            )
        self._count(session, SessionOutcome.EXTENDED if more else SessionOutcome.PRESENT, len(more))

    def _count(self, session: StoredSession, outcome: SessionOutcome, messages: int) -> None:
        is_fork = session.draft.source_id is not None
        self._report.add_session(outcome, messages=messages, is_fork=is_fork)

    async def _link(self, id: str, refs: tuple[str, ...]) -> None:
        known = {node.id for node in (await self._store.refs([id], first=_MAX_REFS, offset=0)).get(id, ())}
        for ref in refs:
            if ref in known:
                continue
            try:
                await self._store.add_ref(id, ref)
            except (InvalidInput, NotFound, SessionArchived) as error:
                self._report.add(Skipped(where=f"session {id}, ref to {ref}", why=error.message))

    async def _write_core(self, files: FileStore) -> None:
        try:
            core = await in_thread(files.core)
        except Malformed as error:
            self._report.add(Skipped(where="core data", why=str(error)))
            return
        self._report.records, skipped = await write_core(self._store, core, self._max_text)
        for each in skipped:
            self._report.add(each)
