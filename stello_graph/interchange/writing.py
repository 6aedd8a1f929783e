"""Writes one conversation beside what is stored of it, each session in a transaction of its own."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from stello_graph.errors import Conflict, NotFound, SessionArchived, SessionBusy
from stello_graph.interchange.background import in_thread
from stello_graph.interchange.plan import ImportedConversation, ImportedSession, Skipped
from stello_graph.interchange.report import ImportReport, SessionOutcome
from stello_graph.interchange.sessions import MAX_SHARED
from stello_graph.model.message import turns_of
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import ImportDraft, StoredTranscript
from stello_graph.ports import SpaceStore

__all__ = ["ARCHIVED", "BEYOND", "BUSY", "CHANGED", "LEAVES", "write_conversation"]

ARCHIVED: Final = "its session is archived here"
BUSY: Final = "a turn runs in its session"
CHANGED: Final = "its session was changed again and again meanwhile"
LEAVES: Final = "what it branches off was not imported"
BEYOND: Final = f"an older branch: those of a conversation share at most {MAX_SHARED:,} messages"

_TRIES: Final = 5


@dataclass(slots=True)
class _Made:
    """What this import did for a session, over all tries."""

    outcome: SessionOutcome
    is_fork: bool
    messages: int = 0


async def write_conversation(
    store: SpaceStore, conversation: ImportedConversation, report: ImportReport
) -> None:
    """Writes what is missing, and counts it.

    What somebody else changed meanwhile is planned anew. A session that takes no messages, and what
    branches off those, is told as skipped.

    Raises:
        NotFound: the Space is gone.
    """
    made: dict[str, _Made] = {}
    tries = 1
    present, left = await _write_missing(store, conversation, made)
    while CHANGED in left.values() and tries < _TRIES:
        present, left = await _write_missing(store, conversation, made)
        tries += 1
    if CHANGED in left.values():
        await store.space()
    for one in made.values():
        report.add_session(one.outcome, messages=one.messages, is_fork=one.is_fork)
    for _ in present - made.keys():
        report.add_session(SessionOutcome.PRESENT, messages=0, is_fork=False)
    for id, why in left.items():
        report.add(Skipped(where=f"{conversation.where}, session {id}", why=why))


async def _write_missing(
    store: SpaceStore, conversation: ImportedConversation, made: dict[str, _Made]
) -> tuple[set[str], dict[str, str]]:
    """Answers which sessions were there before, and which could not be written, and why."""
    stored = await store.stored_transcripts(conversation.id)
    seen = {id: transcript.message_ids for id, transcript in stored.items()}
    sessions = await in_thread(conversation.sessions_beside, seen)
    return set(seen), await _Pass(store, stored, made).write(sessions)


class _Pass:
    """Writes the sessions of a plan, as far as what is stored is still what it was planned beside."""

    def __init__(
        self, store: SpaceStore, stored: dict[str, StoredTranscript], made: dict[str, _Made]
    ) -> None:
        self._store = store
        self._stored = stored
        self._made = made
        self._unwritten: set[str] = set()

    async def write(self, sessions: Iterable[ImportedSession]) -> dict[str, str]:
        """Answers which are left out, and why: also what leaves another at a message that is not written."""
        left = {}
        for session in sessions:
            why = await self._refusal(session)
            if why is not None:
                left[session.id] = why
                self._unwritten |= {message.id for message in session.messages}
        return left

    async def _refusal(self, session: ImportedSession) -> str | None:
        if session.is_beyond:
            return BEYOND
        if session.shared_through in self._unwritten:
            return LEAVES
        try:
            await (self._extend(session) if session.extends else self._make(session))
        except SessionArchived:
            return ARCHIVED
        except SessionBusy:
            return BUSY
        except (Conflict, NotFound):
            return CHANGED
        return None

    async def _make(self, session: ImportedSession) -> None:
        if not await self._store.import_session(_draft(session, _seq_of(session, self._stored))):
            # By another file perhaps, which has other messages of it.
            raise Conflict("somebody else has imported it")
        self._count(session, SessionOutcome.IMPORTED)

    async def _extend(self, session: ImportedSession) -> None:
        known, turns = self._stored[session.id], turns_of(session.messages)
        await self._store.append(session.id, session.messages, expected_seq=known.next_seq, turns=turns)
        self._stored[session.id] = StoredTranscript(
            id=session.id,
            next_seq=known.next_seq + len(session.messages),
            message_ids=(*known.message_ids, *(message.id for message in session.messages)),
        )
        self._count(session, SessionOutcome.EXTENDED)

    def _count(self, session: ImportedSession, outcome: SessionOutcome) -> None:
        is_fork = session.source_id is not None
        self._made.setdefault(session.id, _Made(outcome, is_fork)).messages += len(session.messages)


def _draft(session: ImportedSession, through: int | None) -> ImportDraft:
    return ImportDraft(
        id=session.id,
        parent_id=session.parent_id,
        source_id=session.source_id,
        through_seq=through,
        label=session.label,
        status=SessionStatus.ARCHIVED if session.archived else SessionStatus.ACTIVE,
        tags=session.tags,
        metadata=session.metadata,
        turn_count=turns_of(session.messages),
        messages=session.messages,
        created_at=session.created_at,
        updated_at=session.updated_at,
    )


def _seq_of(session: ImportedSession, stored: dict[str, StoredTranscript]) -> int | None:
    """Where a fork leaves its source; None where it shares nothing, or what it shared was trimmed away.

    A source that this import made starts at 1. One that was there before may have been trimmed since.
    """
    source = stored.get(session.source_id or "")
    if source is None or not session.shared_messages:
        return session.shared_messages or None
    if session.shared_through not in source.message_ids:
        return None
    return source.next_seq - len(source.message_ids) + source.message_ids.index(session.shared_through)
