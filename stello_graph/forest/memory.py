"""Digests and insights."""

from collections.abc import Sequence

from stello_graph.errors import Conflict, InvalidInput, LimitExceeded, ModelRefused, SessionArchived
from stello_graph.forest.accounts import count, stored_or_counted
from stello_graph.forest.functions import Functions
from stello_graph.ids import check_id
from stello_graph.model.checks import check_text
from stello_graph.model.context import Conversation
from stello_graph.model.memory import InsightDraft
from stello_graph.model.session import Session
from stello_graph.model.values import SessionStatus, Usage
from stello_graph.ports import LLM, SpaceStore
from stello_graph.session.context.text import is_blank
from stello_graph.session.memory import consolidate
from stello_graph.session.own import run_own

__all__ = ["MAX_INSIGHTS", "consolidate_due", "consolidate_now", "put_insight", "put_insights", "put_memory"]

MAX_INSIGHTS = 1_000
_MOST_MESSAGES = 2_000
_RACES = 3


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


async def put_insights(store: SpaceStore, insights: Sequence[InsightDraft], limit: int) -> list[Session]:
    """Replaces the pending insights of several sessions, or of none.

    Raises:
        InvalidInput: one session twice, or an insight that says nothing.
        LimitExceeded: more than 1,000.
    """
    if len(insights) > MAX_INSIGHTS:
        raise LimitExceeded(f"at most {MAX_INSIGHTS} insights at once")
    if len({insight.session_id for insight in insights}) < len(insights):
        raise InvalidInput("a session is named twice: it has one pending insight")
    for insight in insights:
        check_id(insight.session_id, "sessionId")
        if insight.source_session_id is not None:
            check_id(insight.source_session_id, "sourceSessionId")
        if not check_text(insight.content, "content", limit).strip():
            raise InvalidInput("an insight says something; clearInsight takes one back")
    return await store.put_insights(insights)


async def consolidate_now(
    store: SpaceStore,
    llm: LLM,
    functions: Functions,
    session_id: str,
    *,
    limit: int,
    even_archived: bool = False,
) -> Session:
    """L3 to L2: what was said since the last time goes into the digest.

    Where nothing was, nobody is asked and the session is answered unchanged.

    Raises:
        ModelError: the model failed; the old digest stays.
        Conflict: somebody wrote the digest meanwhile; theirs stays.
    """
    conversation = await store.undigested(check_id(session_id), _MOST_MESSAGES)
    session = conversation.session
    if session.status is SessionStatus.ARCHIVED and not even_archived:
        raise SessionArchived.of(session_id)
    digest, usage = await _digest(llm, functions, conversation, limit)
    if digest is None and usage.llm_calls:
        await count(store, session_id, usage)
        raise ModelRefused("the model gave no digest; the old one stays")
    if digest is None:
        return session
    made, through_seq = digest, conversation.transcript[-1].seq
    return await stored_or_counted(
        store,
        session_id,
        usage,
        lambda: store.store_digest(
            session_id,
            made,
            revision=session.memory_revision,
            through_seq=through_seq,
            usage=usage,
            even_archived=even_archived,
        ),
    )


async def consolidate_due(
    store: SpaceStore, llm: LLM, functions: Functions, session_id: str, *, limit: int
) -> Session:
    """As `consolidate_now`, of an archived session too, and again where another one was faster.

    That one may have begun before the newest messages came.

    Raises:
        Conflict: a person wrote the digest meanwhile, which stays; or others were faster again and again.
    """
    left = _RACES
    while True:
        left, seen = left - 1, await _seen(store, session_id)
        try:
            return await consolidate_now(store, llm, functions, session_id, limit=limit, even_archived=True)
        except Conflict:
            if not left or await _seen(store, session_id) == seen:
                raise


async def _seen(store: SpaceStore, session_id: str) -> int | None:
    """The last message that consolidating has seen, None where the session is gone."""
    session = (await store.sessions([session_id])).get(session_id)
    return None if session is None else session.memory_through_seq


async def _digest(
    llm: LLM, functions: Functions, conversation: Conversation, limit: int
) -> tuple[str | None, Usage]:
    """The next digest with what it took; None where there is nothing to distil, or the model said nothing."""
    if functions.consolidate is None:
        return await consolidate(llm, conversation)
    if not conversation.transcript:
        return None, Usage()
    given = await run_own(
        "consolidate",
        str,
        functions.consolidate,
        conversation.session.memory or None,
        conversation.transcript,
    )
    if is_blank(check_text(given, "the digest", limit)):
        raise ModelRefused("the application's consolidate function gave no digest; the old one stays")
    return given, Usage()
