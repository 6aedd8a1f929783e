"""The embedded engine: one SQLite file, one writer, several readers, off the event loop.

A small read by keys, though, is done before a thread would have begun it. So it is begun on the event loop,
for as many steps of SQLite as nobody notices, and goes to a thread only where it takes more.

Needs SQLite 3.35 (RETURNING) with FTS5. Two processes may share a file: every write begins IMMEDIATE, and
waits for the other's commit up to the busy timeout.
"""

import asyncio
import contextlib
import itertools
import os
import re
import sqlite3
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeVar

import orjson

from stello_graph.errors import StoreUnavailable
from stello_graph.model.values import StoreState
from stello_graph.store.engine import APPLIED, PING, RECORD, STATE, Row
from stello_graph.store.migrations import Migration, migrations, schema_script, state_of
from stello_graph.store.queries import Query, QueryText, load
from stello_graph.store.reading import Reading

__all__ = ["SqliteEngine"]

T = TypeVar("T")

_OLDEST = (3, 35, 0)
_RACES = 3
# How long a read may keep the event loop: so many steps of SQLite, some 0.2 ms where all is in memory.
_STEPS = 1_000
_MOST_STEPS = 4 * _STEPS
# Where one took more seconds by the clock, the disk is slow: for a pause the next are done in threads.
_SLOW = 0.005
_PAUSE = 1.0
# What SQLite needs itself, such as for its schema.
_LEAST_LENGTH = 1024 * 1024
_MAKING = threading.Lock()
_COLUMNS = re.compile(r":(columns\w*)")
# The primary codes that mean that the file cannot be used now; anything else is a fault of ours.
_AWAY = {
    sqlite3.SQLITE_BUSY,
    sqlite3.SQLITE_LOCKED,
    sqlite3.SQLITE_READONLY,
    sqlite3.SQLITE_IOERR,
    sqlite3.SQLITE_CORRUPT,
    sqlite3.SQLITE_FULL,
    sqlite3.SQLITE_CANTOPEN,
    sqlite3.SQLITE_PROTOCOL,
    sqlite3.SQLITE_NOTADB,
    sqlite3.SQLITE_PERM,
    sqlite3.SQLITE_AUTH,
}


class SqliteEngine:
    """Runs the queries below `sql/` on one file."""

    def __init__(self, path: Path, *, readers: int = 4, busy_timeout: float = 10.0) -> None:
        """Nothing is opened before the first call.

        Args:
            path: the database file; its folder is made if it is missing.
            readers: how many reads may run side by side.
            busy_timeout: seconds that a write waits for another process's write.
        """
        self._path = path
        self._busy_timeout = busy_timeout
        self._texts = load("sql")
        self._file: tuple[int, int] | None = None
        self._writer = _Connections(1, self._connect)
        self._readers = _Connections(readers, self._connect)
        self._here = _OnTheLoop(lambda: self._connect(0.0))

    async def read(self, query: Query, counted: Reading | None = None, /, **params: Any) -> list[Row]:
        """See Engine."""
        text = self._texts[query.name]
        if "columns" in params:
            listed = {name: tuple(params.pop(name)) for name in list(params) if name.startswith("columns")}
            text = _listing(text, tuple(listed.items()))

        def fetch(connection: sqlite3.Connection) -> list[Row]:
            return _fetch(connection, text, params, counted)

        found = await self._here.run(fetch) if query.is_shared else None
        return await self._readers.run(fetch) if found is None else found

    async def write(self, query: Query, **params: Any) -> list[Row]:
        """See Engine."""
        text = self._texts[query.name]
        return await self._writer.run(lambda connection: _commit(connection, text, params))

    async def migrate(self) -> list[str]:
        """See Engine."""
        return await self._writer.run(_migrate)

    async def pending_migrations(self) -> list[str]:
        """See Engine."""
        return await self._writer.run(lambda connection: [step.name for step in _pending(connection)])

    async def state(self) -> StoreState:
        """See Engine."""
        return state_of("sql", (await self.read(STATE))[0])

    async def ping(self) -> str:
        """See Engine."""
        rows = await self.read(PING)
        await self._readers.run(lambda _: self._look_at_file())
        return f"{rows[0]['text']} at {self._path}"

    async def aclose(self) -> None:
        """See Engine."""
        await self._here.aclose()
        await self._readers.aclose()
        await self._writer.aclose()

    def _look_at_file(self) -> None:
        """What is open goes on with a file that was moved or replaced, and what it writes would be lost."""
        if _identity(self._path) != self._file:
            raise StoreUnavailable("the database file was replaced by another: start the server anew")

    def _connect(self, busy_timeout: float | None = None) -> sqlite3.Connection:
        if sqlite3.sqlite_version_info < _OLDEST:
            raise StoreUnavailable(
                f"SQLite 3.35 or newer is needed, this Python has {sqlite3.sqlite_version}"
            )
        if self._file is not None:
            self._look_at_file()
        self._path.parent.mkdir(parents=True, exist_ok=True)
        _make_private(self._path)
        connection = sqlite3.connect(
            self._path,
            timeout=self._busy_timeout if busy_timeout is None else busy_timeout,
            isolation_level=None,
            check_same_thread=False,
            cached_statements=512,
        )
        try:
            for statement in schema_script("sql", "connection"):
                self._persist(connection, statement)
        except BaseException as error:
            connection.close()
            if "no such function: fts" in str(error):
                raise StoreUnavailable("SQLite with FTS5 is needed, that of this Python has none") from error
            raise
        self._file = self._file or _identity(self._path)
        return connection

    def _persist(self, connection: sqlite3.Connection, statement: str) -> None:
        """SQLite does not wait by itself where several begin the write-ahead log of one new file."""
        deadline = time.monotonic() + self._busy_timeout
        while True:
            try:
                connection.execute(statement)
                return
            except sqlite3.OperationalError as error:
                if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                    raise
            time.sleep(0.01)


class _Connections:
    """A few connections, each used by one thread at a time."""

    def __init__(self, size: int, connect: Callable[[], sqlite3.Connection]) -> None:
        self._connect = connect
        self._free: list[sqlite3.Connection] = []
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="stello-sqlite")
        self._is_closed = False

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Runs `work` in a thread."""
        if self._is_closed:
            raise StoreUnavailable("the store is closed")
        # The end of the loop cancels whoever waits; what waits for its thread is done all the same.
        running = asyncio.get_running_loop().run_in_executor(self._threads, self._run, work)
        return await asyncio.shield(running)

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            try:
                connection = self._free.pop()
            except IndexError:
                connection = self._connect()
            try:
                return work(connection)
            finally:
                self._free.append(connection)
        except OSError as error:
            raise StoreUnavailable(f"the database file cannot be opened: {error}") from error
        except sqlite3.DatabaseError as error:
            # Errors of the Python module itself carry no code.
            if getattr(error, "sqlite_errorcode", sqlite3.SQLITE_ERROR) & 0xFF not in _AWAY:
                raise
            raise StoreUnavailable(f"the database file cannot be used now: {error}") from error

    async def aclose(self) -> None:
        self._is_closed = True
        await asyncio.to_thread(self._threads.shutdown)
        while self._free:
            self._free.pop().close()


class _OnTheLoop:
    """A connection for what is done at once, by whoever asks. It waits for no lock."""

    def __init__(self, connect: Callable[[], sqlite3.Connection]) -> None:
        self._opening = _Connections(1, connect)
        self._connection: sqlite3.Connection | None = None
        self._not_before = 0.0

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T | None:
        """What `work` finds; None where a thread has to do it, and to tell why if it cannot either."""
        if self._connection is None:
            self._connection = await self._opening.run(lambda connection: connection)
        began = time.monotonic()
        if began < self._not_before:
            return None
        try:
            self._connection.set_progress_handler(_after(_MOST_STEPS // _STEPS), _STEPS)
            return work(self._connection)
        except sqlite3.DatabaseError:
            return None
        finally:
            ended = time.monotonic()
            if ended - began > _SLOW:
                self._not_before = ended + _PAUSE

    async def aclose(self) -> None:
        self._connection = None
        await self._opening.aclose()


def _after(times: int) -> Callable[[], bool]:
    """Whether it was called more often."""
    called = itertools.count(1)
    return lambda: next(called) > times


def _make_private(path: Path) -> None:
    """Makes a file that is not there yet for its owner alone; its -wal and -shm get the same mode.

    One that is there is not even opened: closing it would drop the locks that SQLite holds on it in this
    process, which is also why others wait here until a new one is closed.
    """
    with _MAKING, contextlib.suppress(FileExistsError):
        os.close(os.open(os.path.realpath(path), os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))


def _identity(path: Path) -> tuple[int, int]:
    found = path.stat()
    return found.st_dev, found.st_ino


@lru_cache(1_024)
def _listing(text: QueryText, listed: tuple[tuple[str, tuple[str, ...]], ...]) -> QueryText:
    """The text with its columns: names are no values that could be bound. An unknown one is an error."""
    names = {param: ", ".join(f"[{name}]" for name in columns) for param, columns in listed}
    statements = (_COLUMNS.sub(lambda found: names[found[1]], one) for one in text.statements)
    return replace(text, statements=tuple(statements))


def _fetch(
    connection: sqlite3.Connection, text: QueryText, params: dict[str, Any], counted: Reading | None = None
) -> list[Row]:
    bound = {name: _bound(value) for name, value in params.items()}
    *before, last = text.statements
    for statement in before:
        connection.execute(statement, bound)
    if counted is None:
        rows = _rows(connection.execute(last, bound))
    else:
        rows = _counted_rows(connection, last, bound, counted)
    for field in text.json_fields:
        for row in rows:
            if row[field] is not None:
                row[field] = orjson.loads(row[field])
    return rows


def _rows(cursor: sqlite3.Cursor) -> list[Row]:
    names = [column[0] for column in cursor.description or ()]
    return [dict(zip(names, values, strict=True)) for values in cursor]


def _counted_rows(
    connection: sqlite3.Connection, statement: str, bound: dict[str, Any], counted: Reading
) -> list[Row]:
    """None where they hold more characters than they may: no more of them become objects.

    SQLite gives out no value that is longer, such as a JSON array of many messages, but it makes such a
    value whole before it finds that out.
    """
    counted.of_rows, counted.characters = [], 0
    before = connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, max(counted.most, _LEAST_LENGTH))
    try:
        with contextlib.closing(connection.execute(statement, bound)) as cursor:
            names = [column[0] for column in cursor.description or ()]
            rows = []
            for values in cursor:
                counted.of_rows.append(sum(len(value) for value in values if isinstance(value, str)))
                counted.characters += counted.of_rows[-1]
                if counted.is_refused:
                    return []
                rows.append(dict(zip(names, values, strict=True)))
            return rows
    except sqlite3.DataError as error:
        if error.sqlite_errorcode != sqlite3.SQLITE_TOOBIG:
            raise
        counted.characters = counted.most + 1
        return []
    finally:
        connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, before)


def _commit(connection: sqlite3.Connection, text: QueryText, params: dict[str, Any]) -> list[Row]:
    for attempt in range(_RACES):
        connection.execute("BEGIN IMMEDIATE")
        try:
            rows = _fetch(connection, text, params)
            connection.execute("COMMIT")
            return rows
        except sqlite3.IntegrityError:
            connection.execute("ROLLBACK")
            if attempt == _RACES - 1:
                raise
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    raise AssertionError("unreachable")


def _bound(value: Any) -> Any:
    return orjson.dumps(value).decode() if isinstance(value, dict | list | tuple) else value


def _pending(connection: sqlite3.Connection) -> list[Migration]:
    for statement in schema_script("sql", "bootstrap"):
        connection.execute(statement)
    done = {row["version"] for row in _fetch(connection, load("sql")[APPLIED.name], {})}
    return [step for step in migrations("sql") if step.version not in done]


def _migrate(connection: sqlite3.Connection) -> list[str]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        applied = _pending(connection)
        for step in applied:
            for statement in step.statements:
                connection.execute(statement)
            _fetch(connection, load("sql")[RECORD.name], {"version": step.version, "name": step.name})
        connection.execute("COMMIT")
        return [step.name for step in applied]
    except BaseException:
        connection.execute("ROLLBACK")
        raise
