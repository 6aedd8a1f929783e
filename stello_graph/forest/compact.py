"""Compressing by hand."""

from stello_graph.errors import ModelError, SessionArchived, SessionBusy
from stello_graph.forest.accounts import count, stored_or_counted
from stello_graph.ids import check_id
from stello_graph.model.checks import check_range
from stello_graph.model.session import Session
from stello_graph.model.values import SessionStatus
from stello_graph.ports import LLM, SpaceStore
from stello_graph.session.compression import compact
from stello_graph.session.summaries import Compress, Summariser

__all__ = ["compact_now"]


async def compact_now(
    store: SpaceStore, llm: LLM, session_id: str, keep_last: int, compress: Compress | None = None
) -> Session:
    """Compresses all but the newest messages. Where that is nothing, the session is answered unchanged.

    Raises:
        ModelError: the model failed; what stood before stays.
        SessionBusy: a turn holds the session.
        Conflict: somebody compressed or trimmed it meanwhile; theirs stays.
    """
    check_range(keep_last, "keepLast", 0)
    conversation = await store.conversation(check_id(session_id))
    session = conversation.session
    if session.status is SessionStatus.ARCHIVED:
        raise SessionArchived.of(session_id)
    if session.open_turn_id is not None:
        raise SessionBusy.of(session_id, session.open_turn_id)
    summariser = Summariser(llm, conversation, compress)
    try:
        draft = await compact(summariser, conversation, keep_last)
    except ModelError:
        await count(store, session_id, summariser.usage)
        raise
    if draft is None:
        return session
    made, usage = draft, summariser.usage
    return await stored_or_counted(
        store, session_id, usage, lambda: store.store_compression(session_id, made, usage=usage)
    )
