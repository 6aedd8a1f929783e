"""Before each call of a turn: its request, compressed where that is due, and what came of compressing."""

import logging
from collections.abc import Sequence

from stello_graph.errors import Conflict, NotFound, StelloError
from stello_graph.forest.accounts import count
from stello_graph.model.context import Conversation, ToolSpec
from stello_graph.model.turn import Turn
from stello_graph.ports import LLM, SpaceStore
from stello_graph.ports.observing import sayable
from stello_graph.session.compression import Fitted, fit
from stello_graph.session.context.patches import Patch
from stello_graph.session.model_choice import window_of
from stello_graph.session.summaries import Compress

__all__ = ["fitted"]

logger = logging.getLogger(__name__)


async def fitted(
    store: SpaceStore,
    llm: LLM,
    turn: Turn,
    conversation: Conversation,
    content: str,
    *,
    insight: str | None,
    patches: Sequence[Patch],
    tools: Sequence[ToolSpec],
    compress: Compress | None = None,
) -> Fitted:
    """As `session.compression.fit`, with a new summary stored, or its failure counted, told and logged.

    The turn goes on with the patches of what this gives. Whatever becomes of the summary, the turn has its
    request: one that came too late to be stored serves this turn alone.

    Raises:
        ContextTooLong: what cannot be left out is longer than the window.
    """
    made = await fit(
        llm,
        conversation,
        content,
        insight=insight,
        window=window_of(conversation, llm),
        patches=patches,
        tools=tools,
        compress=compress,
    )
    if made.compression is None and made.failure is None:
        return made
    try:
        await _settle(store, turn, made)
    except StelloError as error:
        logger.warning("what compressing gave in turn %s was not stored: %s", turn.id, error.message)
    return made


async def _settle(store: SpaceStore, turn: Turn, made: Fitted) -> None:
    if made.failure is not None:
        logger.warning("turn %s goes on without compressing: %s", turn.id, sayable(made.failure))
        await count(store, turn.session_id, made.usage)
        await store.report_failure(turn.session_id, "COMPRESS", made.failure.code, made.failure.message)
    elif made.compression is not None:
        try:
            await store.store_compression(turn.session_id, made.compression, usage=made.usage, turn=turn)
        except (Conflict, NotFound):
            await count(store, turn.session_id, made.usage)
            raise
