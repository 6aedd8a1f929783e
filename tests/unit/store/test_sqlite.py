import asyncio
import contextlib
import os
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable
from pathlib import Path
from typing import Any

import pytest

from stello_graph.errors import StoreUnavailable
from stello_graph.ids import new_id
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import SessionFilter
from stello_graph.ports import SpaceStore
from stello_graph.store import sqlite
from stello_graph.store.engine import PING, Row
from stello_graph.store.migrations import migrations
from stello_graph.store.queries import named
from stello_graph.store.reading import Reading
from stello_graph.store.sqlite import SqliteEngine
from stello_graph.store.store import GraphStore
from tests.conformance.drafts import create


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "deep" / "er" / "stello.db"


@pytest.fixture
async def engine(path: Path) -> AsyncIterator[SqliteEngine]:
    opened = SqliteEngine(path, busy_timeout=0.2)
    await opened.migrate()
    yield opened
    await opened.aclose()


async def test_the_folder_is_made(engine: SqliteEngine, path: Path) -> None:
    """A file is made with its folder at the first call."""
    assert path.exists()
    assert await engine.ping() == f"SQLite {sqlite3.sqlite_version} at {path}"


async def test_nothing_is_opened_before_the_first_call(path: Path) -> None:
    """An engine that is not used leaves no file."""
    await SqliteEngine(path).aclose()

    assert not path.exists()


async def test_how_the_file_is_kept(engine: SqliteEngine, path: Path) -> None:
    """A commit is on disk, readers do not wait for the writer, and what is linked must exist."""

    def settings(connection: sqlite3.Connection) -> list[object]:
        names = ("journal_mode", "synchronous", "foreign_keys")
        return [connection.execute(f"PRAGMA {name}").fetchone()[0] for name in names]

    for connections in (engine._writer, engine._readers):
        assert await connections.run(settings) == ["wal", 2, 1]


@pytest.mark.parametrize("mask", [0o000, 0o022, 0o077])
async def test_a_new_file_is_its_owners_alone(tmp_path: Path, mask: int) -> None:
    """It and what SQLite keeps beside it have the mode 600, whatever the process's mask would allow."""
    path = tmp_path / "stello.db"
    before = os.umask(mask)
    try:
        engine = SqliteEngine(path)
        await engine.migrate()
        await engine.ping()
        assert modes(tmp_path) == {"stello.db": 0o600, "stello.db-wal": 0o600, "stello.db-shm": 0o600}
        await engine.aclose()
    finally:
        os.umask(before)


async def test_the_mode_of_a_file_stays(tmp_path: Path) -> None:
    """An existing file keeps what its owner gave it, empty or not, and so does what a link leads to."""
    link = tmp_path / "link.db"
    link.symlink_to(tmp_path / "stello.db")
    for path in (tmp_path / "old.db", tmp_path / "empty.db", link):
        if path.name == "empty.db":
            path.touch(0o600)
        else:
            await migrated(path)
        assert path.stat().st_mode & 0o777 == 0o600
        path.chmod(0o640)
        await migrated(path)
        assert path.stat().st_mode & 0o777 == 0o640


async def migrated(path: Path) -> None:
    engine = SqliteEngine(path)
    await engine.migrate()
    await engine.aclose()


def modes(folder: Path) -> dict[str, int]:
    return {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}


async def test_an_older_sqlite(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A SQLite that is too old is refused with a sentence."""
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    engine = SqliteEngine(path)

    with pytest.raises(StoreUnavailable, match=r"SQLite 3\.35 or newer"):
        await engine.ping()
    await engine.aclose()


class WithoutSearch(sqlite3.Connection):
    """A connection to which FTS5 is unknown, as in a SQLite that was built without it."""

    def execute(self, sql: str, *params: Any) -> sqlite3.Cursor:
        return super().execute(sql.replace("fts5", "fts9"), *params)


async def test_a_sqlite_without_fts5(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is refused with a sentence, at the first call and before anything is written."""
    connect = sqlite3.connect
    monkeypatch.setattr(
        sqlite3, "connect", lambda *args, **more: connect(*args, factory=WithoutSearch, **more)
    )
    engine = SqliteEngine(path)

    for call in (engine.ping, engine.migrate):
        with pytest.raises(StoreUnavailable, match="SQLite with FTS5 is needed"):
            await call()
    await engine.aclose()
    assert path.stat().st_size == 0


async def test_a_file_of_another_kind(path: Path) -> None:
    """A file that is no database is not touched."""
    path.parent.mkdir(parents=True)
    path.write_bytes(b"not a database" * 1_000)
    engine = SqliteEngine(path)

    with pytest.raises(StoreUnavailable):
        await engine.migrate()
    await engine.aclose()

    assert path.read_bytes() == b"not a database" * 1_000


async def test_a_path_that_is_a_folder(tmp_path: Path) -> None:
    """What cannot be opened is unavailable."""
    engine = SqliteEngine(tmp_path)

    with pytest.raises(StoreUnavailable):
        await engine.ping()
    await engine.aclose()


async def test_a_folder_that_is_a_file(tmp_path: Path) -> None:
    """Where the folder cannot be made, the store is unavailable."""
    (tmp_path / "file").write_text("")
    engine = SqliteEngine(tmp_path / "file" / "stello.db")

    with pytest.raises(StoreUnavailable):
        await engine.ping()
    await engine.aclose()


async def test_a_lock_that_is_held(engine: SqliteEngine, path: Path) -> None:
    """A write waits for another process's write as long as it was told, then gives up."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    with pytest.raises(StoreUnavailable):
        await GraphStore(engine).ensure_space("one", "One")
    waiting = asyncio.create_task(GraphStore(engine).ensure_space("two", "Two"))
    await asyncio.sleep(0.05)
    other.execute("COMMIT")
    other.close()

    assert (await waiting).name == "Two"


async def test_reads_go_on_while_somebody_writes(engine: SqliteEngine, path: Path) -> None:
    """Reading needs no lock."""
    await GraphStore(engine).ensure_space("one", "One")
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")

    assert (await GraphStore(engine).in_space("one").space()).name == "One"
    other.close()


@pytest.mark.covers("W13")
async def test_a_disk_that_is_full(engine: SqliteEngine) -> None:
    """Where nothing more fits, the store is unavailable, and nothing half-written stays."""
    store = GraphStore(engine)
    await engine._writer.run(lambda connection: connection.execute("PRAGMA max_page_count = 1").fetchall())

    with pytest.raises(StoreUnavailable):
        await store.ensure_space(new_id(), "x" * 1_000_000)
    await engine._writer.run(
        lambda connection: connection.execute("PRAGMA max_page_count = 1000000").fetchall()
    )

    assert (await store.ensure_space("after", "After")).name == "After"


async def test_a_file_that_is_read_only(engine: SqliteEngine) -> None:
    """A file that cannot be written is unavailable for writes; reads go on."""
    await engine._writer.run(lambda connection: connection.execute("PRAGMA query_only = ON").fetchall())

    with pytest.raises(StoreUnavailable):
        await GraphStore(engine).ensure_space("one", "One")

    assert (await engine.read(PING))[0]["text"].startswith("SQLite")


async def test_a_fault_of_ours_stays_what_it_is(engine: SqliteEngine) -> None:
    """A statement that is wrong is not taken for a store that is away."""
    for text, reason in (("SELECT * FROM nowhere", "no such table"), ("SELECT :missing", "binding")):
        with pytest.raises(sqlite3.DatabaseError, match=reason):
            await engine._writer.run(lambda connection: connection.execute(text, {}))  # noqa: B023


async def test_one_file_is_left(engine: SqliteEngine, path: Path) -> None:
    """Closing leaves one file and no journal."""
    await GraphStore(engine).ensure_space("one", "One")
    await engine.aclose()

    assert [one.name for one in path.parent.iterdir()] == ["stello.db"]


async def test_races_come_to_an_end(engine: SqliteEngine, monkeypatch: pytest.MonkeyPatch) -> None:
    """A write that breaks a constraint again and again is a fault of ours."""
    calls = 0

    def broken(*_: object) -> list[Row]:
        nonlocal calls
        calls += 1
        raise sqlite3.IntegrityError("UNIQUE")

    monkeypatch.setattr(sqlite, "_fetch", broken)

    with pytest.raises(sqlite3.IntegrityError):
        await GraphStore(engine).ensure_space("one", "One")
    assert calls == sqlite._RACES


async def test_a_file_of_before_the_triggers(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A Space's triggers, and when a digest changed, are known of a file from before they had columns."""
    steps = migrations("sql")
    monkeypatch.setattr(sqlite, "migrations", lambda language: [step for step in steps if step.version < 4])
    engine = SqliteEngine(path)
    await engine.migrate()
    config = '{"consolidatePrompt":"x\\"consolidateOn\\":[","consolidateOn":["ON_LEAVE"],"everyNTurns":7}'
    with contextlib.closing(sqlite3.connect(path)) as connection, connection:
        connection.execute(
            "INSERT INTO space (id, name, config, createdAt) VALUES ('s', 'S', ?, 0)", [config]
        )
        columns = "key, spaceId, id, rootId, label, role, status, strategy, tags, metadata, memory, eventSeq"
        connection.execute(
            f"INSERT INTO session ({columns}, createdAt, updatedAt, lastActiveAt) "
            "VALUES ('s/a', 's', 'a', 'a', 'A', 'MAIN', 'ACTIVE', 'FLAT', '[]', '{}', 'm', 5, 0, 0, 0)"
        )
    monkeypatch.undo()

    await engine.migrate()

    with contextlib.closing(sqlite3.connect(path)) as connection:
        found = connection.execute("SELECT consolidateOn, integrateOn, everyNTurns FROM space").fetchall()
        assert found == [('["ON_LEAVE"]', "[]", 7)]
        assert connection.execute("SELECT memorySeq FROM session").fetchall() == [(5,)]
    await GraphStore(engine).in_space("s").leave("a", "tab")
    await engine.aclose()


async def test_digests_that_changed(tmp_path: Path) -> None:
    """Found by the index of few changes or among all sessions: the same pages, in the order of keys."""
    file = tmp_path / "stello.db"
    engine = SqliteEngine(file)
    store = GraphStore(engine)
    await store.migrate()
    await store.ensure_space("space", "Space")
    space = store.in_space("space")
    for id in "abcdef":
        await create(space, id=id)
    for id in "fbd":
        await space.put_memory(id, f"digest of {id}")
    await space.set_status("d", SessionStatus.ARCHIVED)

    async def pages() -> list[list[str]]:
        found = [
            await space.digests(SessionFilter(status=status), changed_after=changed, after=after, first=first)
            for status in (None, SessionStatus.ACTIVE)
            for changed in (0, 4, 6, 7)
            for after, first in (("", 10), ("", 2), ("b", 2))
        ]
        return [[digest.id for digest in page.digests] for page in found]

    by_index = await pages()
    with contextlib.closing(sqlite3.connect(file)) as connection, connection:
        connection.execute("UPDATE space SET eventSeq = 5000")

    assert by_index[6:9] == [["b", "d", "f"], ["b", "d"], ["d", "f"]]
    assert await pages() == by_index
    await engine.aclose()


async def test_a_file_that_is_moved_away(engine: SqliteEngine, path: Path, tmp_path: Path) -> None:
    """No reader opens a new one in its place; all is well once it is back."""
    await GraphStore(engine).ensure_space("one", "One")
    aside = tmp_path / "aside.db"
    path.rename(aside)
    await asyncio.gather(*(engine.read(PING) for _ in range(16)), return_exceptions=True)
    with pytest.raises(StoreUnavailable):
        await engine.ping()
    assert not path.exists()

    aside.rename(path)
    await asyncio.gather(*(engine.ping() for _ in range(16)))
    assert (await GraphStore(engine).ensure_space("one", "One")).name == "One"


async def test_a_new_file_that_another_process_is_about_to_write(tmp_path: Path) -> None:
    """Who opens a new file while another process begins it waits for it."""
    path = tmp_path / "stello.db"
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        engine = SqliteEngine(path)
        migrating = asyncio.ensure_future(engine.migrate())
        done, _ = await asyncio.wait([migrating], timeout=0.2)
        assert not done
        other.execute("ROLLBACK")
    assert await migrating
    await engine.aclose()


async def test_a_new_file_that_another_process_never_lets_go(tmp_path: Path) -> None:
    """Waiting ends with the busy timeout."""
    path = tmp_path / "stello.db"
    engine = SqliteEngine(path, busy_timeout=0.1)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnavailable, match="locked"):
            await engine.migrate()
    await engine.aclose()


async def test_an_unknown_column_is_an_error(tmp_path: Path) -> None:
    """SQLite takes an unknown name in quotes for a text; not so here."""
    engine = SqliteEngine(tmp_path / "stello.db")
    try:
        await engine.migrate()
        with pytest.raises(sqlite3.OperationalError, match="no such column"):
            await engine.read(
                named("topology/children"), space="s", keys=["s"], after=-1, first=1, columns=["nobody"]
            )
    finally:
        await engine.aclose()


def test_what_was_begun_ends_with_the_loop(path: Path) -> None:
    """Writes that wait for their thread when the event loop ends are done all the same."""
    engine = SqliteEngine(path)

    async def closes_at_the_end() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await engine.aclose()

    async def begins() -> None:
        store = GraphStore(engine)
        await store.migrate()
        await store.ensure_space("s", "S")
        space = store.in_space("s")
        closing = asyncio.create_task(closes_at_the_end())
        begun = [asyncio.create_task(create(space)) for _ in range(8)]
        await asyncio.sleep(0.001)
        assert not any(task.done() for task in (closing, *begun[1:]))

    asyncio.run(begins())

    with contextlib.closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT count(*) FROM session").fetchone() == (8,)


CHILDREN = named("topology/children")
SESSIONS = named("sessions/get")


@pytest.fixture
async def space(engine: SqliteEngine) -> SpaceStore:
    """A Space with a root `top`, and its children."""
    store = GraphStore(engine)
    await store.ensure_space("s", "S")
    space = store.in_space("s")
    await create(space, id="top")
    for number in range(12):
        await create(space, id=f"child{number}", parent_id="top")
    return space


def children(engine: SqliteEngine) -> Awaitable[list[Row]]:
    return engine.read(CHILDREN, space="s", keys=["s/top"], after=-1, first=50, columns=["id", "label"])


def sessions(engine: SqliteEngine, counted: Reading | None = None) -> Awaitable[list[Row]]:
    return engine.read(SESSIONS, counted, keys=["s/top", *(f"s/child{number}" for number in range(12))])


@pytest.fixture
def unhurried(monkeypatch: pytest.MonkeyPatch) -> None:
    """No read counts as slow, however busy the machine is."""
    monkeypatch.setattr(sqlite, "_SLOW", 60.0)


async def no_thread(_: object) -> list[Row]:
    raise AssertionError("a thread was used")


@pytest.mark.usefixtures("unhurried")
async def test_a_small_read_needs_no_thread(
    engine: SqliteEngine, space: SpaceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is read by keys is read at once, and sees what was written before."""
    await children(engine)
    monkeypatch.setattr(engine._readers, "run", no_thread)
    assert len(await sessions(engine)) == 13
    await create(space, id="child12", parent_id="top")

    assert len((await children(engine))[0]["children"]) == 13
    with pytest.raises(AssertionError, match="a thread was used"):
        await engine.read(PING)


@pytest.mark.parametrize("steps", [1, 10, 50, 200])
@pytest.mark.usefixtures("unhurried")
async def test_a_read_that_takes_long_is_done_in_a_thread(
    engine: SqliteEngine, space: SpaceStore, monkeypatch: pytest.MonkeyPatch, steps: int
) -> None:
    """Wherever it was given up: the same rows, and what they hold counts once."""
    whole, counted = Reading(10_000), Reading(10_000)
    nodes, found = await children(engine), await sessions(engine, whole)
    monkeypatch.setattr(sqlite, "_STEPS", steps)
    monkeypatch.setattr(sqlite, "_MOST_STEPS", steps)

    assert await children(engine) == nodes
    assert await sessions(engine, counted) == found
    assert (counted.of_rows, counted.characters) == (whole.of_rows, whole.characters)
    assert len(counted.of_rows) == 13
    monkeypatch.setattr(engine._readers, "run", no_thread)
    with pytest.raises(AssertionError, match="a thread was used"):
        await sessions(engine)


@pytest.mark.usefixtures("unhurried")
async def test_how_long_a_read_may_keep_the_event_loop(engine: SqliteEngine) -> None:
    """A read of many rows is given up after a few steps; one of a few rows that runs often is not."""

    def numbers(most: int) -> list[Row]:
        given = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {most})"
        return [{"rows": connection.execute(f"{given} SELECT count(*) FROM n").fetchone()[0]}]

    connection = await engine._here._opening.run(lambda opened: opened)
    for _ in range(500):
        assert await engine._here.run(lambda _: numbers(20)) == [{"rows": 20}]
    assert await engine._here.run(lambda _: numbers(1_000_000)) is None


@pytest.mark.usefixtures("unhurried")
async def test_a_read_at_once_waits_for_no_lock(
    engine: SqliteEngine, space: SpaceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is locked is left to a thread, which waits."""
    fetch, times = sqlite._fetch, 0

    def locked_at_first(*given: Any) -> list[Row]:
        nonlocal times
        times += 1
        if times == 1:
            raise sqlite3.OperationalError("database is locked")
        return fetch(*given)

    before = await sessions(engine)
    monkeypatch.setattr(sqlite, "_fetch", locked_at_first)

    assert await sessions(engine) == before
    assert times == 2
    waits = [
        await connections.run(lambda connection: connection.execute("PRAGMA busy_timeout").fetchone()[0])
        for connections in (engine._here, engine._readers)
    ]
    assert waits == [0, 200]


async def test_where_the_disk_is_slow_reads_are_done_in_threads(
    engine: SqliteEngine, space: SpaceStore
) -> None:
    """For a while after one that kept the event loop too long."""
    await engine._here.run(lambda _: time.sleep(0.02))
    assert len(await sessions(engine)) == 13
    assert await engine._here.run(lambda _: "here") is None

    await asyncio.sleep(1.1 * sqlite._PAUSE)
    assert await engine._here.run(lambda _: "here") == "here"


async def test_a_closed_engine_reads_nothing(engine: SqliteEngine, space: SpaceStore) -> None:
    """Small reads too are refused with the code."""
    await sessions(engine)
    await engine.aclose()

    with pytest.raises(StoreUnavailable, match="closed"):
        await sessions(engine)
