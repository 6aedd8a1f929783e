"""The Neo4j engine, on the official asynchronous driver.

Every query is one auto-commit round trip that brings one record with all rows. Since each write may
be run again, a failure that leaves the outcome unknown is answered by running it again.
"""

import asyncio
import random
import re
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeVar, cast

from neo4j import AsyncDriver, AsyncGraphDatabase, AsyncSession
from neo4j import Bookmarks as DriverBookmarks
from neo4j import Query as DriverQuery
from neo4j.exceptions import ClientError, ConstraintError, DriverError, IncompleteCommit, Neo4jError

from stello_graph.errors import StoreUnavailable
from stello_graph.model.values import StoreState
from stello_graph.store.bookmarks import Bookmarks
from stello_graph.store.engine import APPLIED, PING, RECORD, STATE, Row
from stello_graph.store.migrations import Migration, migrations, schema_script, state_of
from stello_graph.store.queries import Query, load
from stello_graph.store.reading import Reading
from stello_graph.store.scopes import scopes_of

__all__ = ["Neo4jEngine", "in_one_map"]

T = TypeVar("T")

_RACES = 5
_PARAMETER = re.compile(r"\$(\w+)")
_ENTITY_NOT_FOUND = "Neo.ClientError.Statement.EntityNotFound"
_UNKNOWN_BOOKMARK = {
    "Neo.TransientError.Transaction.BookmarkTimeout",
    "Neo.ClientError.Transaction.InvalidBookmark",
    "Neo.ClientError.Transaction.InvalidBookmarkMixture",
}


def in_one_map(statement: str) -> str:
    """The statement with its parameters taken from one, the map `$given`.

    Neo4j keeps a plan for each combination of the parameters' types (null is one, and texts and lists of
    another length are others), and to plan a write takes seconds on a cold server. A map has one type.
    """
    return _PARAMETER.sub(r"$given.\1", statement)


class Neo4jEngine:
    """Runs the queries below `cypher/` on one database."""

    def __init__(
        self,
        url: str,
        *,
        user: str | None = None,
        password: str | None = None,
        database: str | None = None,
        pool_size: int = 50,
        retry_seconds: float = 8.0,
    ) -> None:
        """Nothing is opened before the first call.

        Args:
            url: `neo4j://host:7687`, `bolt://…`, `neo4j+s://…`.
            user: None sends no authentication.
            password: goes with `user`.
            database: None takes the server's default.
            pool_size: connections at most.
            retry_seconds: how long a failed query is tried again.
        """
        self._url = url
        self._database = database
        self._retry_seconds = retry_seconds
        # bolt:// names one server, which has seen its own writes.
        self._bookmarks = Bookmarks() if url.startswith("neo4j") else None
        self._is_closed = False
        self._texts = {name: self._text(text.statements[0]) for name, text in load("cypher").items()}
        self._counted = {
            name: self._text(_counted(text.statements[0]))
            for name, text in load("cypher").items()
            if text.query.has_texts
        }
        self._driver: AsyncDriver | None = None
        self._options: dict[str, Any] = {
            "auth": None if user is None else (user, password or ""),
            "max_connection_pool_size": pool_size,
            "connection_acquisition_timeout": retry_seconds,
            "connection_timeout": min(5.0, retry_seconds),
            "keep_alive": True,
            "notifications_min_severity": "OFF",
            "user_agent": "stello-graph",
        }

    async def read(self, query: Query, counted: Reading | None = None, /, **params: Any) -> list[Row]:
        """See Engine."""
        return await self._run(query.name, params, "READ", counted)

    async def write(self, query: Query, **params: Any) -> list[Row]:
        """See Engine."""
        return await self._run(query.name, params, "WRITE")

    async def migrate(self) -> list[str]:
        """See Engine."""
        return await self._retried(self._migrate)

    async def pending_migrations(self) -> list[str]:
        """See Engine."""
        return [step.name for step in await self._pending()]

    async def state(self) -> StoreState:
        """See Engine."""
        return state_of("cypher", (await self.read(STATE))[0])

    async def ping(self) -> str:
        """See Engine."""
        rows = await self.read(PING)
        return f"{rows[0]['text']} at {self._url}"

    async def aclose(self) -> None:
        """See Engine."""
        self._is_closed = True
        if self._driver is not None:
            await self._driver.close()

    def _text(self, statement: str) -> DriverQuery:
        return DriverQuery(in_one_map(statement))

    def _open(self) -> AsyncDriver:
        if self._is_closed:
            raise StoreUnavailable("the store is closed")
        if self._driver is None:
            self._driver = AsyncGraphDatabase.driver(self._url, **self._options)
        return self._driver

    async def _run(
        self, name: str, params: dict[str, Any], access: str, counted: Reading | None = None
    ) -> list[Row]:
        text, scopes = self._texts[name], scopes_of(name, params)
        if counted is not None:
            text, params = self._counted[name], {**params, "mostTexts": counted.most}

        async def once() -> list[Row]:
            before = self._known(scopes)
            async with self._open().session(
                database=self._database,
                default_access_mode=access,
                bookmarks=DriverBookmarks.from_raw_values(before) if before else None,
            ) as session:
                record = await (await session.run(text, {"given": params})).single()
                if self._bookmarks is not None and access == "WRITE":
                    now = (await session.last_bookmarks()).raw_values
                    for scope in scopes:
                        self._bookmarks.written(scope, before, now)
                if record is None:
                    return []
                if counted is not None:
                    counted.of_rows, counted.characters = record[1], record[2]
                return cast(list[Row], record[0])

        return await self._retried(once)

    def _known(self, scopes: Iterable[str]) -> frozenset[str]:
        """What a query has to wait for."""
        if self._bookmarks is None:
            return frozenset()
        return frozenset[str]().union(*map(self._bookmarks.of, scopes))

    async def _retried(self, once: Callable[[], Awaitable[T]]) -> T:
        deadline = asyncio.get_running_loop().time() + self._retry_seconds
        attempt = races = 0
        while True:
            try:
                return await once()
            except (DriverError, Neo4jError, OSError) as error:
                self._forget_unknown(error)
                races += _is_race(error)
                if _is_race(error) and races < _RACES:
                    continue
                attempt += 1
                late = asyncio.get_running_loop().time() >= deadline
                if late or not _is_retryable(error):
                    raise _as_ours(error) from error
            await asyncio.sleep(min(1.0, 0.01 * 2**attempt) * random.uniform(0.5, 1.5))

    def _forget_unknown(self, error: Exception) -> None:
        if self._bookmarks is not None and getattr(error, "code", None) in _UNKNOWN_BOOKMARK:
            self._bookmarks.forget()

    async def _pending(self, access: str = "READ") -> list[Migration]:
        done = {row["version"] for row in await self._run(APPLIED.name, {}, access)}
        return [step for step in migrations("cypher") if step.version not in done]

    async def _migrate(self) -> list[str]:
        async with self._open().session(database=self._database) as session:
            await self._script(session, schema_script("cypher", "bootstrap"))
            async with await session.begin_transaction() as held:
                for statement in schema_script("cypher", "lock"):
                    await held.run(statement)
                return await self._apply(await self._pending("WRITE"))

    async def _apply(self, steps: list[Migration]) -> list[str]:
        async with self._open().session(database=self._database) as session:
            for step in steps:
                await self._script(session, step.statements)
                await self._script(session, schema_script("cypher", "await"))
                await self._run(RECORD.name, {"version": step.version, "name": step.name}, "WRITE")
        return [step.name for step in steps]

    async def _script(self, session: AsyncSession, statements: tuple[str, ...]) -> None:
        for statement in statements:
            await (await session.run(self._text(statement))).consume()


def _counted(statement: str) -> str:
    """A read that brings no rows where their texts pass `$mostTexts`, and the number of their characters."""
    (around,) = schema_script("cypher", "counted")
    return around.replace("__QUERY__", statement)


def _is_race(error: Exception) -> bool:
    """A statement that lost a race sees the winner's work when it runs again."""
    return isinstance(error, ConstraintError) or (
        isinstance(error, Neo4jError) and error.code == _ENTITY_NOT_FOUND
    )


def _is_retryable(error: Exception) -> bool:
    if isinstance(error, IncompleteCommit | OSError):
        return True
    if getattr(error, "code", None) in _UNKNOWN_BOOKMARK:
        return True
    return isinstance(error, DriverError | Neo4jError) and error.is_retryable()


def _as_ours(error: Exception) -> Exception:
    """A statement that is wrong is our fault and stays what it is; all else means that the store is away."""
    if isinstance(error, ClientError) and "Security" not in (error.code or ""):
        return error
    return StoreUnavailable(f"the graph database cannot be used now ({type(error).__name__})")
