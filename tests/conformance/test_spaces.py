import time

import pytest

from stello_graph.errors import NotFound
from stello_graph.ids import new_id
from stello_graph.model.space import SpaceConfig, SplitGuard, Trigger
from stello_graph.model.values import TopologyStrategy, Usage
from stello_graph.ports import SpaceStore
from stello_graph.store.store import GraphStore
from tests.conformance.drafts import create
from tests.conformance.racing import race

CONFIG = SpaceConfig(
    strategy=TopologyStrategy.FLAT,
    system_prompt="You are 星.",
    model="a",
    consolidate_model="b",
    integrate_model="c",
    compress_model="d",
    shared_memory=True,
    max_context_tokens=1_000,
    max_output_tokens=1,
    max_tool_rounds=0,
    consolidate_prompt="e",
    integrate_prompt="f",
    compress_prompt="g",
    role_context="h",
    consolidate_on=(Trigger.ON_SWITCH, Trigger.EVERY_N_TURNS),
    integrate_on=(Trigger.AFTER_CONSOLIDATE,),
    every_n_turns=1,
    split_guard=SplitGuard(for_tools=False, for_api=True, min_turns=7, cooldown_turns=8),
)


async def test_a_new_space_is_empty(store: GraphStore) -> None:
    """A new Space has its name, the defaults, and nothing in it."""
    id = f"new-{new_id()}"

    made = await store.ensure_space(id, "Mine")

    assert (made.id, made.name, made.config) == (id, "Mine", SpaceConfig())
    assert (made.revision, made.session_count, made.event_seq, made.usage) == (0, 0, 0, Usage())
    assert await store.in_space(id).space() == made


async def test_its_time_is_now(store: GraphStore) -> None:
    """Times are UTC microseconds of the store's clock."""
    made = await store.ensure_space(f"new-{new_id()}", "Mine")

    assert abs(made.created_at / 1_000_000 - time.time()) < 60


async def test_a_space_is_made_once(store: GraphStore, space: SpaceStore) -> None:
    """A Space that exists is answered as it is."""
    await create(space)
    before = await space.space()

    assert await store.ensure_space(space.space_id, "Another name") == before
    assert await space.space() == before


async def test_a_space_made_by_many(store: GraphStore, twin_store: GraphStore) -> None:
    """Of many who make one Space at once all are answered the same."""
    for _ in range(4):
        id = f"new-{new_id()}"

        won, lost = await race(one.ensure_space(id, "Mine") for one in [store, twin_store] * 8)

        assert (len(won), lost) == (16, [])
        assert {space.created_at for space in won} == {won[0].created_at}


async def test_an_unknown_space(store: GraphStore) -> None:
    """A Space that was never made is not found."""
    with pytest.raises(NotFound):
        await store.in_space("never-made").space()


async def test_configuring(space: SpaceStore) -> None:
    """Every setting is kept, and the revision grows."""
    before = await space.space()

    changed = await space.configure(before.model_copy(update={"name": "Ours", "config": CONFIG}))

    assert changed is not None
    assert (changed.name, changed.config, changed.revision) == ("Ours", CONFIG, 1)
    assert await space.space() == changed


async def test_settings_can_be_cleared(space: SpaceStore) -> None:
    """A setting can go back to its default."""
    changed = await space.configure((await space.space()).model_copy(update={"config": CONFIG}))
    assert changed is not None

    cleared = await space.configure(changed.model_copy(update={"config": SpaceConfig()}))

    assert cleared is not None
    assert (cleared.config, cleared.revision) == (SpaceConfig(), 2)


async def test_configuring_what_changed_meanwhile(space: SpaceStore) -> None:
    """Settings that somebody changed meanwhile are left as they are."""
    before = await space.space()
    changed = await space.configure(before.model_copy(update={"name": "First"}))

    assert await space.configure(before.model_copy(update={"name": "Second"})) is None
    assert await space.space() == changed


async def test_ping(store: GraphStore) -> None:
    """The database says what it is."""
    assert (await store.ping()).startswith(("SQLite 3.", "Neo4j 5.26.", "Neo4j 2026."))
