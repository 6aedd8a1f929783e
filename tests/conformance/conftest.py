import asyncio
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path

import pytest

from stello_graph.ids import new_id
from stello_graph.ports import SpaceStore
from stello_graph.store.engine import Engine
from stello_graph.store.sqlite import SqliteEngine
from stello_graph.store.store import GraphStore
from tests.conformance.databases import Database, Neo4jDatabase, SqliteDatabase
from tests.conformance.forests import FEW, MANY, MESSAGES, Forest, planted
from tests.conformance.invariants import check_invariants
from tests.engines import SQLITE, OpenServer

OpenEngine = Callable[..., Engine]


# A change of the schema empties Neo4j's cache of plans, and to plan all queries anew takes half a minute.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    items.sort(key=lambda item: item.path.name != "test_migrations.py")


@pytest.fixture(scope="session")
def database(
    engine: str, neo4j_server: OpenServer, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Database]:
    """The database of an engine, migrated."""
    found: Database
    if engine == SQLITE:
        found = SqliteDatabase(tmp_path_factory.mktemp(engine) / "stello.db")
    else:
        found = Neo4jDatabase(neo4j_server(engine))
    asyncio.run(_migrate(found))
    yield found
    found.close()


@pytest.fixture
async def open_engine(database: Database) -> AsyncIterator[OpenEngine]:
    """Opens engines that are closed when the test ends."""
    opened: list[Engine] = []

    def open_(pool_size: int = 50) -> Engine:
        opened.append(database.open(pool_size=pool_size))
        return opened[-1]

    yield open_
    for one in opened:
        await one.aclose()


@pytest.fixture
def store(open_engine: OpenEngine) -> GraphStore:
    """The store of one process."""
    return GraphStore(open_engine())


@pytest.fixture
async def space(store: GraphStore, database: Database) -> AsyncIterator[SpaceStore]:
    """A new Space; what must be true of it is checked at the end."""
    id = f"test-{new_id()}"
    await store.ensure_space(id, "Test")
    yield store.in_space(id)
    check_invariants(database.snapshot(id))


@pytest.fixture(scope="session")
def forests() -> dict[str, tuple[Forest, Forest]]:
    return {}


@pytest.fixture
async def small_and_big(
    engine: str, store: GraphStore, database: Database, forests: dict[str, tuple[Forest, Forest]]
) -> tuple[Forest, Forest]:
    """A small forest and a big one, made once for each engine."""
    if engine not in forests:
        forests[engine] = (
            await planted(store, database, FEW, FEW),
            await planted(store, database, MANY, MESSAGES),
        )
    return forests[engine]


@pytest.fixture
def twin_store(open_engine: OpenEngine) -> GraphStore:
    """The store of another process."""
    return GraphStore(open_engine())


@pytest.fixture
def twin(twin_store: GraphStore, space: SpaceStore) -> SpaceStore:
    """The same Space as another process sees it."""
    return twin_store.in_space(space.space_id)


@pytest.fixture
async def elsewhere(tmp_path: Path) -> AsyncIterator[SpaceStore]:
    """An empty Space of another store, whatever the engine under test is."""
    store = GraphStore(SqliteEngine(tmp_path / "elsewhere.db", readers=1))
    await store.migrate()
    await store.ensure_space("elsewhere", "Elsewhere")
    yield store.in_space("elsewhere")
    await store.aclose()


async def _migrate(database: Database) -> None:
    engine = database.open()
    await engine.migrate()
    await engine.aclose()
