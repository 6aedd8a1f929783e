"""Integration: the digests of a tree become a synthesis and insights."""

import contextlib
from collections.abc import Sequence

from stello_graph.errors import Conflict, InvalidInput, LimitExceeded, ModelRefused, SessionArchived
from stello_graph.forest.accounts import count, stored_or_counted
from stello_graph.forest.functions import Functions, Integrate
from stello_graph.forest.rollups import Views, roll_up
from stello_graph.forest.synthesis import digest_line, integrate_request, parsed, shown_ids
from stello_graph.ids import check_id
from stello_graph.model.checks import check_text
from stello_graph.model.context import ReplyStop
from stello_graph.model.memory import (
    InsightDraft,
    Integrated,
    Integration,
    IntegrationDraft,
    ToIntegrate,
)
from stello_graph.model.session import SessionDigest
from stello_graph.model.values import SessionRole, SessionStatus, TopologyStrategy
from stello_graph.ports import LLM, SpaceStore
from stello_graph.session.call import call
from stello_graph.session.context.text import is_blank
from stello_graph.session.own import run_own

__all__ = ["integrate_due", "integrate_now"]

_MOST_DIGESTS = 2_000
_MOST_SESSIONS = 100_000
_MOST_INSIGHTS = 1_000
_RACES = 3


async def integrate_now(
    store: SpaceStore, llm: LLM, functions: Functions, session_id: str, *, force: bool, limit: int
) -> Integration:
    """All L2 of a MAIN session's tree to its synthesis and to insights, in one transaction.

    Without new L2 since the last time nobody is asked and nothing changes, unless `force`; and in no
    case where there is no L2 at all.

    Args:
        limit: the size of texts, in bytes.

    Raises:
        InvalidInput: the session is not MAIN.
        ModelError: the model failed; all stays as it is.
        Conflict: somebody integrated meanwhile; theirs stays.
    """
    found = await store.to_integrate(check_id(session_id), _MOST_DIGESTS)
    session = found.session
    if session.role is not SessionRole.MAIN:
        raise InvalidInput("only a MAIN session integrates")
    if session.status is SessionStatus.ARCHIVED:
        raise SessionArchived.of(session_id)
    digests = tuple(digest for digest in found.digests if not is_blank(digest.memory or ""))
    newest = max((digest.memory_seq for digest in digests), default=0)
    if newest == 0 or (newest <= session.integrated_seq and not force):
        return Integration(called=False, synthesis=session.synthesis)
    unknown: tuple[str, ...] = ()
    if functions.integrate is not None:
        draft = await _by_application(functions.integrate, found, digests, limit)
    else:
        draft, unknown = await _by_model(store, llm, found, digests)
    told = await stored_or_counted(
        store, session_id, draft.usage, lambda: store.store_integration(session_id, draft)
    )
    asked = (*unknown, *(insight.session_id for insight in draft.insights if insight.session_id not in told))
    return Integration(
        called=True,
        synthesis=draft.synthesis,
        insights=tuple(insight for insight in draft.insights if insight.session_id in told),
        dropped=asked,
    )


async def integrate_due(
    store: SpaceStore, llm: LLM, functions: Functions, session_id: str, *, limit: int
) -> Integration:
    """As `integrate_now`, until all digests are integrated that were there when it was called.

    Who was faster may have begun before the newest of them came.

    Raises:
        Conflict: others were faster again and again.
    """
    for _ in range(_RACES - 1):
        with contextlib.suppress(Conflict):
            return await integrate_now(store, llm, functions, session_id, force=False, limit=limit)
    return await integrate_now(store, llm, functions, session_id, force=False, limit=limit)


async def _by_model(
    store: SpaceStore, llm: LLM, found: ToIntegrate, digests: Sequence[SessionDigest]
) -> tuple[IntegrationDraft, tuple[str, ...]]:
    """What to store, and the ids that the model made up."""
    lines, left_out = await _lines(store, llm, found, digests)
    request = integrate_request(llm, found, lines, left_out=left_out)
    reply = await call(llm, request)
    told = None if reply.stop is ReplyStop.REFUSAL else parsed(reply.text)
    synthesis = told[0] or found.session.synthesis if told else None
    if told is None or synthesis is None:
        await count(store, found.session.id, reply.usage)
        raise ModelRefused("the model gave no synthesis; the old one stays")
    shown = shown_ids(request)
    draft = IntegrationDraft(
        synthesis=synthesis,
        insights=tuple(one for one in told[1] if one.session_id in shown)[:_MOST_INSIGHTS],
        through_seq=found.through_seq,
        revision=found.session.synthesis_revision,
        usage=reply.usage,
    )
    return draft, tuple(one.session_id for one in told[1] if one.session_id not in shown)


async def _lines(
    store: SpaceStore, llm: LLM, found: ToIntegrate, digests: Sequence[SessionDigest]
) -> tuple[list[str], int]:
    """What the top sees, newest changed first, and how many are left out."""
    session = found.session
    if session.strategy is not TopologyStrategy.HIERARCHICAL:
        left_out = int(len(found.digests) == _MOST_DIGESTS)
        return [digest_line(one.id, one.label, one.memory or "") for one in digests], left_out
    nodes = await store.tree(session.id, _MOST_SESSIONS)
    if len(nodes) == _MOST_SESSIONS:
        raise LimitExceeded(f"a HIERARCHICAL tree is integrated up to {_MOST_SESSIONS} sessions")
    return await roll_up(store, llm, found, Views(session.id, nodes))


async def _by_application(
    integrate: Integrate, found: ToIntegrate, digests: Sequence[SessionDigest], limit: int
) -> IntegrationDraft:
    given = await run_own("integrate", Integrated, integrate, found.session.synthesis, digests)
    if is_blank(check_text(given.synthesis, "the synthesis", limit)):
        raise ModelRefused("the application's integrate function gave no synthesis; the old one stays")
    if len(given.insights) > _MOST_INSIGHTS:
        raise LimitExceeded(f"at most {_MOST_INSIGHTS} insights at once")
    insights: dict[str, InsightDraft] = {}
    for insight in given.insights:
        check_text(insight.content, "an insight", limit)
        insights[check_id(insight.session_id, "sessionId")] = insight
    return IntegrationDraft(
        synthesis=given.synthesis,
        insights=tuple(insights.values()),
        through_seq=found.through_seq,
        revision=found.session.synthesis_revision,
    )
