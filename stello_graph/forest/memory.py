"""Digests and insights."""

from stello_graph.errors import ModelRefused, SessionArchived
from stello_graph.forest.accounts import count, stored_or_counted
from stello_graph.forest.checks import check_text
from stello_graph.ids import check_id
from stello_graph.model.session import Session
from stello_graph.model.values import SessionStatus
from stello_graph.ports import LLM, SpaceStore
from stello_graph.session.memory import consolidate

__all__ = ["consolidate_now", "put_insight", "put_memory"]


async def put_memory(store: SpaceStore, session_id: str, content: str, limit: int) -> Session:
    """Writes a session's digest by hand."""
    return await store.put_memory(check_id(session_id), check_text(content, "content", limit))


async def put_insight(
    store: SpaceStore, session_id: str, content: str, source_session_id: str | None, limit: int
) -> Session:
    """Replaces the pending insight; an empty one is as good as none."""
    check_id(session_id)
    if source_session_id is not None:
        check_id(source_session_id, "sourceSessionId")
    if not content.strip():
        return await store.clear_insight(session_id)
    return await store.put_insight(session_id, check_text(content, "content", limit), source_session_id)


async def consolidate_now(store: SpaceStore, llm: LLM, session_id: str) -> Session:
    """L3 to L2. Where there is nothing to distil the session is answered unchanged.

    Raises:
        ModelError: the model failed; the old digest stays.
        Conflict: somebody wrote the digest meanwhile; theirs stays.
    """
    conversation = await store.whole_conversation(check_id(session_id))
    session = conversation.session
    if session.status is SessionStatus.ARCHIVED:
        raise SessionArchived.of(session_id)
    digest, usage = await consolidate(llm, conversation)
    if digest is None and usage.llm_calls:
        await count(store, session_id, usage)
        raise ModelRefused("the model gave no digest; the old one stays")
    if digest is None:
        return session
    made, revision = digest, session.memory_revision
    return await stored_or_counted(
        store, session_id, usage, lambda: store.store_digest(session_id, made, revision=revision, usage=usage)
    )
