"""Writes what a reader yields into a Space: each session in a transaction of its own."""

import asyncio
from collections.abc import Callable, Iterator
from typing import Any, BinaryIO, TypeVar

from stello_graph.interchange import chatgpt, claude, librechat, openwebui
from stello_graph.interchange.detect import HEAD_SIZE, Format, detect
from stello_graph.interchange.plan import ImportedConversation, ImportedSession, Skipped
from stello_graph.interchange.report import ImportReport, SessionOutcome
from stello_graph.model.message import turns_of
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import ImportDraft, StoredTranscript
from stello_graph.ports import SpaceStore

__all__ = ["import_stream"]

T = TypeVar("T")

_READERS = {
    Format.CHATGPT: chatgpt.read,
    Format.CLAUDE: claude.read,
    Format.OPENWEBUI: openwebui.read,
    Format.LIBRECHAT: librechat.read,
}


async def import_stream(
    store: SpaceStore,
    stream: BinaryIO,
    *,
    format: Format | None = None,
    report: ImportReport | None = None,
) -> ImportReport:
    """Imports a file, one conversation at a time.

    Args:
        stream: seekable, at its start.
        format: None finds it out by the file's beginning.
        report: what counts while it runs, so that others can look; None makes one.

    Raises:
        InvalidInput: the file is of no known format.
    """
    report = ImportReport() if report is None else report
    items = _items(stream, format)
    while (item := await _in_thread(next, items, None)) is not None:
        report.add(item)
        if isinstance(item, ImportedConversation):
            await _write(store, item, report)
    return report


async def _in_thread(work: Callable[..., T], *given: Any) -> T:
    """What takes a while, such as to parse a long conversation; it has ended also where this is cancelled."""
    working = asyncio.ensure_future(asyncio.to_thread(work, *given))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        await asyncio.wait({working})
        raise


def _items(stream: BinaryIO, format: Format | None) -> Iterator[ImportedConversation | Skipped]:
    if format is None:
        format = detect(stream.read(HEAD_SIZE))
        stream.seek(0)
    return _READERS[format](stream)


async def _write(store: SpaceStore, conversation: ImportedConversation, report: ImportReport) -> None:
    stored = await store.stored_transcripts(conversation.id)
    seen = {id: transcript.message_ids for id, transcript in stored.items()}
    sessions = await _in_thread(conversation.sessions_beside, seen)
    for present in seen.keys() - {session.id for session in sessions}:
        report.add_session(SessionOutcome.PRESENT, messages=0, is_fork=present != conversation.id)
    for session in sessions:
        outcome = await _write_session(store, session, stored)
        made = 0 if outcome is SessionOutcome.PRESENT else len(session.messages)
        report.add_session(outcome, messages=made, is_fork=session.source_id is not None)


async def _write_session(
    store: SpaceStore, session: ImportedSession, stored: dict[str, StoredTranscript]
) -> SessionOutcome:
    if not session.extends:
        is_new = await store.import_session(_draft(session, _seq_of(session, stored)))
        # Somebody else may import the same at the same time.
        return SessionOutcome.IMPORTED if is_new else SessionOutcome.PRESENT
    known = stored[session.id]
    turns = turns_of(session.messages)
    await store.append(session.id, session.messages, expected_seq=known.next_seq, turns=turns)
    stored[session.id] = StoredTranscript(
        id=session.id,
        next_seq=known.next_seq + len(session.messages),
        message_ids=(*known.message_ids, *(message.id for message in session.messages)),
    )
    return SessionOutcome.EXTENDED


def _draft(session: ImportedSession, through: int | None) -> ImportDraft:
    return ImportDraft(
        id=session.id,
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
