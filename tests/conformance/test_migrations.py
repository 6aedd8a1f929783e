import time

import pytest

from stello_graph.model.space import SpaceConfig
from stello_graph.store.migrations import migrations
from stello_graph.store.store import GraphStore
from tests.conformance.conftest import OpenEngine
from tests.conformance.databases import Database
from tests.conformance.drafts import create
from tests.conformance.racing import race

NAMES = [step.name for step in migrations("sql")]


async def test_nothing_is_pending(store: GraphStore) -> None:
    """Migrating again applies nothing."""
    assert await store.pending_migrations() == []
    assert await store.migrate() == []


async def test_from_nothing(database: Database, store: GraphStore) -> None:
    """On an empty database all is pending, then applied in order, each once."""
    database.drop_schema()

    assert await store.pending_migrations() == NAMES
    assert await store.migrate() == NAMES
    assert await store.pending_migrations() == []
    assert await store.migrate() == []


async def test_the_chain_is_the_schema(database: Database, store: GraphStore) -> None:
    """All migrations, one after the other, make what the schema file makes at once."""
    database.drop_schema()
    database.make_schema()
    at_once = database.schema()
    database.drop_schema()

    await store.migrate()

    assert at_once
    assert {name: text for name, text in database.schema().items() if "migration" not in name} == at_once


async def test_the_state(database: Database, open_engine: OpenEngine) -> None:
    """The store tells its clock in microseconds, and which index is missing."""
    engine = open_engine()
    state = await engine.state()
    assert state.missing == ()
    assert abs(state.now / 1_000_000 - time.time()) < 3600

    database.drop_index("session_event")
    assert (await engine.state()).missing == ("session_event",)

    await engine.aclose()
    database.drop_schema()
    again = open_engine()
    await again.migrate()
    assert (await again.state()).missing == ()


@pytest.mark.covers("TC20")
async def test_by_several_at_once(database: Database, open_engine: OpenEngine) -> None:
    """Processes that start together migrate once, on an empty database too."""
    database.drop_schema()
    engines = [open_engine() for _ in range(4)]

    won, lost = await race(engine.migrate() for engine in engines)

    assert lost == []
    assert sorted(won) == sorted([NAMES, [], [], []])
    assert await engines[0].pending_migrations() == []


@pytest.mark.parametrize("language", ["sql", "cypher"])
async def test_the_same_steps(language: str) -> None:
    """Both languages have the same steps."""
    assert [step.name for step in migrations(language)] == NAMES  # type: ignore[arg-type]
    versions = [step.version for step in migrations(language)]  # type: ignore[arg-type]
    assert versions == sorted(set(versions))


async def test_spaces_from_before(database: Database, store: GraphStore) -> None:
    """A Space from before shared memory shares it where its configuration says so, and takes writes."""
    for shared in (True, False):
        id = f"before-{shared}".lower()
        await store.ensure_space(id, "Before")
        space = store.in_space(id)
        config = SpaceConfig(shared_memory=shared, system_prompt='say "sharedMemory":true')
        await space.configure((await space.space()).model_copy(update={"config": config}))
        database.upgrade(id)

        await space.put_shared_memory("slug", "", "", limit=1)
        found = await space.conversation((await create(space)).id)

        assert [note.slug for note in found.shared_memories] == ["slug"] * shared


async def test_a_migrated_database_works(store: GraphStore) -> None:
    """After all that the database takes writes."""
    await store.ensure_space("migrated", "Migrated")

    assert (await create(store.in_space("migrated"))).label == "Root"
