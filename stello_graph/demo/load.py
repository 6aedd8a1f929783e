"""Fills an empty Space with the demo."""

import time
from collections.abc import Callable, Sequence
from typing import Final

from stello_graph.demo import contents
from stello_graph.demo.contents import DemoSession
from stello_graph.demo.light import light_forest
from stello_graph.errors import Conflict
from stello_graph.forest.parent_context import together
from stello_graph.model.checks import check_range
from stello_graph.model.knowledge import MAX_SHARED_MEMORIES, MAX_SKILLS, Skill
from stello_graph.model.memory import InsightDraft, IntegrationDraft
from stello_graph.model.message import turns_of
from stello_graph.model.profile import MAX_PROFILES, ForkProfile
from stello_graph.model.values import ForkContext, SessionStatus, Usage
from stello_graph.model.writes import CompressionDraft, ForkDraft, SessionDraft
from stello_graph.ports import SpaceStore
from stello_graph.session.context.tokens import tokens_of

__all__ = ["MOST", "check_size", "load_demo"]

MOST: Final = 100_000

Told = Callable[[int], None]


def check_size(size: int | None) -> None:
    """Raises InvalidInput where the demo cannot have so many sessions."""
    if size is not None:
        check_range(size, "size", 1, MOST)


async def load_demo(store: SpaceStore, size: int | None = None, on_made: Told = lambda made: None) -> int:
    """Makes the demo's sessions, and light ones up to `size`; answers how many there are.

    Args:
        size: None for the demo alone; where it is smaller than that, for its first sessions.
        on_made: told the number of sessions so far.

    Raises:
        Conflict: the Space has sessions already, or somebody else makes one of these meanwhile.
    """
    check_size(size)
    if (await store.space()).session_count:
        raise Conflict(f'the Space "{store.space_id}" is not empty: the demo goes into an empty one')
    chosen = list(contents.sessions())[:size]
    profiles = await _beside(store)
    for made, session in enumerate(chosen, 1):
        await _make(store, session, profiles)
        on_made(made)
    await _connect(store, chosen)
    made = len(chosen)
    for lot in light_forest((size or made) - made, now=time.time_ns() // 1_000):
        if not await store.import_sessions(lot):
            raise Conflict(f'somebody else fills the Space "{store.space_id}"')
        made += len(lot)
        on_made(made)
    return made


async def _beside(store: SpaceStore) -> dict[str, ForkProfile]:
    """Stores what belongs to no session, unless there is one of that name; answers the demo's profiles."""
    demo = contents.space()
    for key, value in demo.records.items():
        if await store.record(key) is None:
            await store.put_record(key, value, 0)
    for memory in demo.shared_memories:
        if await store.shared_memory(memory.slug) is None:
            await store.put_shared_memory(memory.slug, memory.summary, memory.body, limit=MAX_SHARED_MEMORIES)
    for skill in demo.skills:
        if await store.skill(skill.name) is None:
            await store.put_skill(Skill.model_validate(skill.model_dump()), limit=MAX_SKILLS)
    there = {profile.name for profile in await store.profiles()}
    for profile in demo.profiles:
        if profile.name not in there:
            await store.put_profile(profile, limit=MAX_PROFILES)
    return {profile.name: profile for profile in demo.profiles}


async def _make(store: SpaceStore, session: DemoSession, profiles: dict[str, ForkProfile]) -> None:
    """A session with its messages and what it remembers."""
    profile = None if session.profile is None else profiles[session.profile]
    draft = SessionDraft(
        id=session.id,
        parent_id=session.parent,
        label=session.label,
        role=session.role,
        strategy=session.strategy,
        system_prompt=session.system_prompt if profile is None else profile.system_prompt,
        skills=session.skills,
        tags=session.tags,
        metadata={},
        overrides={},
    )
    if session.source is None:
        await store.create_session(draft, None)
    else:
        await store.fork(await _fork(store, session, draft), None)
    messages = session.drafts()
    if messages:
        await store.append(session.id, messages, turns=turns_of(messages))
    if session.memory is not None:
        await store.put_memory(session.id, session.memory)
    if session.compression is not None:
        await store.store_compression(
            session.id,
            CompressionDraft(
                summary=session.compression.text,
                through_seq=session.compression.through,
                tokens=tokens_of(session.compression.text),
                first_seq=1,
            ),
            usage=Usage(),
        )


async def _fork(store: SpaceStore, session: DemoSession, draft: SessionDraft) -> ForkDraft:
    of_space = (await store.space()).config.system_prompt
    return ForkDraft(
        **dict(draft) | {"system_prompt": together(draft.system_prompt, session.summary, of_space)},
        source_id=session.source or "",
        through_seq=session.through,
        inherits=session.context is not ForkContext.COMPRESS,
    )


async def _connect(store: SpaceStore, chosen: Sequence[DemoSession]) -> None:
    """What goes across sessions, once all are there; archived last, as those take no writes any more."""
    there = {session.id for session in chosen}
    for session in chosen:
        for ref in session.refs:
            if ref in there:
                await store.add_ref(session.id, ref)
    known = (await store.space()).event_seq
    for session in chosen:
        if session.rollup is not None:
            await store.store_rollup(session.id, session.rollup, through_seq=known, usage=Usage())
    for session in chosen:
        if session.synthesis is not None:
            await store.store_integration(session.id, _integration(session, chosen, known))
    for session in chosen:
        if session.archived:
            await store.set_status(session.id, SessionStatus.ARCHIVED)


def _integration(main: DemoSession, chosen: Sequence[DemoSession], known: int) -> IntegrationDraft:
    insights = tuple(
        InsightDraft(session_id=one.id, content=one.insight)
        for one in chosen
        if one.insight is not None and one.insight_from == main.id
    )
    return IntegrationDraft(synthesis=main.synthesis or "", insights=insights, through_seq=known, revision=0)
