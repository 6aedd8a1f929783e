"""Writes conversations beside what is stored of them: the first sessions of new ones together, each other
session in a transaction of its own.
"""

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from stello_graph.errors import Conflict, NotFound, SessionArchived, SessionBusy
from stello_graph.interchange.background import in_thread
from stello_graph.interchange.intake import Found
from stello_graph.interchange.plan import ImportedConversation, ImportedSession, Skipped
from stello_graph.interchange.report import ImportReport, SessionOutcome
from stello_graph.interchange.sessions import MAX_SHARED
from stello_graph.model.message import turns_of
from stello_graph.model.values import SessionStatus, TopologyStrategy
from stello_graph.model.writes import ImportDraft, PlacedDraft, StoredTranscript
from stello_graph.ports import SpaceStore

__all__ = ["ARCHIVED", "BEYOND", "BUSY", "CHANGED", "LEAVES", "write_lot"]

ARCHIVED: Final = "its session is archived here"
BUSY: Final = "a turn runs in its session"
CHANGED: Final = "its session was changed again and again meanwhile"
LEAVES: Final = "what it branches off was not imported"
BEYOND: Final = f"an older branch: those of a conversation share at most {MAX_SHARED:,} messages"

_TRIES: Final = 5

Stored = dict[str, StoredTranscript]
Plan = Sequence[ImportedSession]


@dataclass(slots=True)
class _Made:
    """What this import did for a session, over all tries."""

    outcome: SessionOutcome
    is_fork: bool
    messages: int = 0


async def write_lot(
    store: SpaceStore, lot: Sequence[Found], report: ImportReport, after: asyncio.Future[None]
) -> None:
    """Writes what is missing of some conversations, no two of one id, and counts all that was found.

    What somebody else changed meanwhile is planned anew. A session that takes no messages, and what
    branches off those, is told as skipped.

    Args:
        after: what has to be done before anything is written or counted; all is prepared meanwhile.

    Raises:
        NotFound: the Space is gone.
        Exception: what `after` raised.
    """
    conversations = [found for found in lot if isinstance(found, ImportedConversation)]
    stored = await store.stored_transcripts([one.id for one in conversations])
    plans = await in_thread(_plans, conversations, stored)
    begun = await _begin(store, [plan[0] for id, plan in plans.items() if not stored[id]], after)
    for found in lot:
        report.add(found)
    for one in conversations:
        await _Writing(store, one, stored[one.id], report).finish(plans[one.id], one.id in begun)


def _plans(conversations: Iterable[ImportedConversation], stored: dict[str, Stored]) -> dict[str, Plan]:
    return {one.id: _plan(one, stored[one.id]) for one in conversations}


def _plan(conversation: ImportedConversation, stored: Stored) -> Plan:
    return conversation.sessions_beside({id: transcript.message_ids for id, transcript in stored.items()})


async def _begin(store: SpaceStore, sessions: Plan, after: asyncio.Future[None]) -> set[str]:
    """Makes the first sessions of conversations. Where somebody else has made one meanwhile, it makes none:
    then each is made for itself.
    """
    are_made = await store.import_sessions([_placed(session) for session in sessions], after)
    return {session.id for session in sessions} if are_made else set()


class _Writing:
    """One conversation on its way into the store."""

    def __init__(
        self, store: SpaceStore, conversation: ImportedConversation, stored: Stored, report: ImportReport
    ) -> None:
        self._store = store
        self._conversation = conversation
        self._stored = stored
        self._report = report
        self._made: dict[str, _Made] = {}

    async def finish(self, plan: Plan, is_begun: bool) -> None:
        """Writes a plan, but for its first session where that is made, and counts what was made."""
        if is_begun:
            first, *plan = plan
            self._made[first.id] = _Made(SessionOutcome.IMPORTED, False, len(first.messages))
        left = await _Pass(self._store, self._stored, self._made).write(plan)
        tries = 1
        while CHANGED in left.values() and tries < _TRIES:
            left = await self._write_anew()
            tries += 1
        if CHANGED in left.values():
            await self._store.space()
        self._count(left)

    async def _write_anew(self) -> dict[str, str]:
        id = self._conversation.id
        self._stored = (await self._store.stored_transcripts([id]))[id]
        plan = await in_thread(_plan, self._conversation, self._stored)
        return await _Pass(self._store, self._stored, self._made).write(plan)

    def _count(self, left: dict[str, str]) -> None:
        for one in self._made.values():
            self._report.add_session(one.outcome, messages=one.messages, is_fork=one.is_fork)
        for _ in self._stored.keys() - self._made.keys():
            self._report.add_session(SessionOutcome.PRESENT, messages=0, is_fork=False)
        for id, why in left.items():
            self._report.add(Skipped(where=f"{self._conversation.where}, session {id}", why=why))


class _Pass:
    """Writes the sessions of a plan, as far as what is stored is still what it was planned beside.

    Attributes: _stored are those that the plan was made beside; one that was extended is kept as it is now.
    """

    def __init__(self, store: SpaceStore, stored: Stored, made: dict[str, _Made]) -> None:
        self._store = store
        self._stored = stored
        self._made = made
        self._unwritten: set[str] = set()

    async def write(self, sessions: Plan) -> dict[str, str]:
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


def _placed(session: ImportedSession) -> PlacedDraft:
    return PlacedDraft(
        id=session.id,
        label=session.label,
        status=_status(session),
        strategy=TopologyStrategy.TREE,
        tags=session.tags,
        metadata=session.metadata,
        messages=session.messages,
        created_at=session.created_at,
        updated_at=session.updated_at,
    )


def _draft(session: ImportedSession, through: int | None) -> ImportDraft:
    return ImportDraft(
        id=session.id,
        parent_id=session.parent_id,
        source_id=session.source_id,
        through_seq=through,
        label=session.label,
        status=_status(session),
        tags=session.tags,
        metadata=session.metadata,
        turn_count=turns_of(session.messages),
        messages=session.messages,
        created_at=session.created_at,
        updated_at=session.updated_at,
    )


def _status(session: ImportedSession) -> SessionStatus:
    return SessionStatus.ARCHIVED if session.archived else SessionStatus.ACTIVE


def _seq_of(session: ImportedSession, stored: Stored) -> int | None:
    """Where a fork leaves its source; None where it shares nothing, or what it shared was trimmed away.

    A source that this import made starts at 1. One that was there before may have been trimmed since.
    """
    source = stored.get(session.source_id or "")
    if source is None or not session.shared_messages:
        return session.shared_messages or None
    if session.shared_through not in source.message_ids:
        return None
    return source.next_seq - len(source.message_ids) + source.message_ids.index(session.shared_through)
