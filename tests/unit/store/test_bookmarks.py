"""Who wrote to a Space reads what it wrote, also from a cluster's follower."""

import asyncio
import contextlib
from collections.abc import Callable, Coroutine
from typing import Any, Self, cast

import pytest
from neo4j import AsyncDriver
from neo4j import Bookmarks as DriverBookmarks
from neo4j.exceptions import Neo4jError

from stello_graph.errors import StelloError
from stello_graph.ids import new_id
from stello_graph.model.keys import KeyDraft
from stello_graph.model.values import KeyScope
from stello_graph.store.bookmarks import Bookmarks
from stello_graph.store.engine import APPLIED
from stello_graph.store.neo4j import Neo4jEngine
from stello_graph.store.queries import load, named
from stello_graph.store.scopes import scope_of
from stello_graph.store.store import GraphStore
from tests.conformance.drafts import create
from tests.e2e.waiting import until
from tests.neo4j_server import Server

UPDATE, NODES = named("sessions/update"), named("topology/nodes")
TIMEOUT = Neo4jError._hydrate_neo4j(code="Neo.TransientError.Transaction.BookmarkTimeout", message="?")
INVALID = Neo4jError._hydrate_neo4j(code="Neo.ClientError.Transaction.InvalidBookmark", message="?")
KEY = "space/a"
VALUES: dict[str, Any] = {
    **dict.fromkeys(("key", "turnKey", "fromKey"), KEY),
    "keys": [KEY, "space/b"],
    "prefix": "space/",
    "space": "space",
}


class Fake:
    """A driver and a session in one: each write gives the next bookmark."""

    def __init__(self, *failures: Exception) -> None:
        self.asked: list[tuple[str, set[str]]] = []
        self.failures = list(failures)
        self.gate: asyncio.Event | None = None

    def session(self, *, bookmarks: DriverBookmarks | None, default_access_mode: str, **_: Any) -> "Session":
        waits_for = set() if bookmarks is None else set(bookmarks.raw_values)
        self.asked.append((default_access_mode, waits_for))
        return Session(self, f"bookmark {len(self.asked)}")

    async def close(self) -> None:
        pass


class Session:
    def __init__(self, fake: Fake, bookmark: str) -> None:
        self._fake, self._bookmark = fake, bookmark

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        pass

    async def run(self, *_: object) -> Self:
        if self._fake.failures:
            raise self._fake.failures.pop(0)
        return self

    async def single(self) -> list[Any]:
        if self._fake.gate is not None:
            await self._fake.gate.wait()
        return [[]]

    async def last_bookmarks(self) -> DriverBookmarks:
        return DriverBookmarks.from_raw_values([self._bookmark])


class Engine(Neo4jEngine):
    """An engine on a driver that is none."""

    def __init__(self, fake: Fake, url: str = "neo4j://nowhere") -> None:
        super().__init__(url, retry_seconds=5.0)
        self.fake = fake

    def _open(self) -> AsyncDriver:
        return cast(AsyncDriver, self.fake)


def write(engine: Engine, space: str) -> Any:
    return engine.write(
        UPDATE, space=space, key=f"{space}/a", id="a", op="o", eventKey="e", data="{}", changes={}
    )


def read(engine: Engine, space: str) -> Any:
    return engine.read(NODES, keys=[f"{space}/a", f"{space}/b"])


async def test_reads_wait_for_the_writes_of_their_space() -> None:
    """A read names the last write of its Space alone; a write replaces what it was based on."""
    engine = Engine(Fake())
    await read(engine, "one")
    await write(engine, "one")
    await read(engine, "one")
    await read(engine, "two")
    await write(engine, "one")
    await read(engine, "one")
    await engine.read(APPLIED)

    assert engine.fake.asked == [
        ("READ", set()),
        ("WRITE", set()),
        ("READ", {"bookmark 2"}),
        ("READ", set()),
        ("WRITE", {"bookmark 2"}),
        ("READ", {"bookmark 5"}),
        ("READ", set()),
    ]


async def test_keys_and_spaces_are_read_without_a_space() -> None:
    """Who made or ended a key, or a Space, sees it in what names no Space: lookups, lists of Spaces."""
    engine = Engine(Fake())
    store = GraphStore(engine)
    draft = KeyDraft(id="i", space_id="one", name="n", prefix="p", hash="h", scope=KeyScope.READ)
    changes: list[Callable[[], Coroutine[Any, Any, object]]] = [
        lambda: store.create_key(draft, limit=1),
        lambda: store.revoke_key("one", "i"),
        lambda: store.create_key(
            draft.model_copy(update={"space_id": None, "scope": KeyScope.OPERATOR}), limit=1
        ),
        store.use_keys,
        lambda: store.create_space("two", "Two"),
        lambda: store.delete_space("two", 0),
    ]
    reads: list[Callable[[], Coroutine[Any, Any, object]]] = [
        lambda: store.find_keys(["h"]),
        store.keys_in_use,
        lambda: store.spaces(after="", first=1),
        lambda: store.deleted_spaces(first=1),
    ]
    for change in changes:
        with contextlib.suppress(StelloError, IndexError):  # The driver answers nothing.
            await change()
        written = {f"bookmark {len(engine.fake.asked)}"}
        for read_it in reads:
            with contextlib.suppress(IndexError):
                await read_it()
            assert engine.fake.asked[-1] == ("READ", written)
    await write(engine, "three")
    assert engine.fake.asked[-1] == ("WRITE", set())


async def test_writes_side_by_side() -> None:
    """Of writes that did not know of each other all are waited for, until a later one is based on them."""
    engine = Engine(Fake())
    engine.fake.gate = asyncio.Event()
    running = [asyncio.create_task(write(engine, "one")) for _ in range(3)]
    await until(lambda: len(engine.fake.asked) == 3, "all have begun")
    engine.fake.gate.set()
    await asyncio.gather(*running)
    await read(engine, "one")
    await write(engine, "one")
    await read(engine, "one")

    assert engine.fake.asked[3:] == [
        ("READ", {"bookmark 1", "bookmark 2", "bookmark 3"}),
        ("WRITE", {"bookmark 1", "bookmark 2", "bookmark 3"}),
        ("READ", {"bookmark 5"}),
    ]


@pytest.mark.parametrize("error", [TIMEOUT, INVALID])
async def test_bookmarks_that_the_database_does_not_know(error: Exception) -> None:
    """A database that was restored meanwhile is asked again, without what it cannot know."""
    engine = Engine(Fake())
    await write(engine, "one")
    engine.fake.failures.append(error)
    await read(engine, "one")

    assert engine.fake.asked[1:] == [("READ", {"bookmark 1"}), ("READ", set())]


async def test_a_single_server_needs_none() -> None:
    """bolt:// names one server, which has seen its own writes."""
    engine = Engine(Fake(), "bolt://nowhere")
    await write(engine, "one")
    await read(engine, "one")

    assert engine.fake.asked == [("WRITE", set()), ("READ", set())]


def test_bookmarks_are_bounded() -> None:
    """The Spaces written to longest ago are forgotten."""
    bookmarks = Bookmarks(spaces=2)
    for space in ("one", "two", "one", "three"):
        bookmarks.written(space, bookmarks.of(space), {f"{space}'s"})

    assert [bookmarks.of(space) for space in ("one", "two", "three")] == [{"one's"}, set(), {"three's"}]


@pytest.mark.parametrize("name", sorted(load("cypher")))
def test_the_space_of_a_query(name: str) -> None:
    """A query that names a Space, be it by a key, is known to be of that Space."""
    params = named(name).params

    found = scope_of({param: VALUES[param] for param in params & VALUES.keys()})

    assert found == ("space" if params & VALUES.keys() else "")


@pytest.mark.parametrize("engine", ["neo4j"], indirect=True)
async def test_a_real_server(engine: str, neo4j_server: Callable[[str], Server]) -> None:
    """The driver's bookmarks are taken from a write and accepted by the next read of the Space."""
    server = neo4j_server(engine)
    url = "neo4j" + server.url[server.url.index("://") :]
    opened = Neo4jEngine(url, user=server.user, password=server.password)
    store, id = GraphStore(opened), f"test-{new_id()}"
    try:
        await store.migrate()
        await store.ensure_space(id, "Test")
        made = await create(store.in_space(id))
        assert opened._bookmarks is not None
        first = opened._bookmarks.of(id)
        assert len(first) == 1
        assert opened._bookmarks.of("another") == set()
        assert list(await store.in_space(id).nodes([made.id])) == [made.id]
        await store.in_space(id).update_session(made.id, {"label": "new"})
        assert len(opened._bookmarks.of(id)) == 1
        assert opened._bookmarks.of(id) != first
    finally:
        await opened.aclose()
