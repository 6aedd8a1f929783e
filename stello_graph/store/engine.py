"""The port that the repositories speak to: run a named query, get rows."""

from typing import Any, Protocol

from stello_graph.model.values import StoreState
from stello_graph.store.queries import Query, named
from stello_graph.store.reading import Reading

__all__ = ["APPLIED", "PING", "RECORD", "STATE", "Engine", "Listed", "Row", "WrappedEngine"]

Row = dict[str, Any]
# An item of a list inside a row: its values in an order that `rows` knows, without their names.
Listed = list[Any]

PING = named("system/ping")
APPLIED = named("system/applied")
RECORD = named("system/record")
STATE = named("system/state")


class Engine(Protocol):
    """A database.

    A write is one transaction. It may be run more than once (lost connection, deadlock), so every write
    query gives the same result when it is run again with the same parameters. A call that is cancelled may
    still be done: `SharingEngine` lets what was begun end.

    Raises:
        StoreUnavailable: the database is away, full, or could not finish in time.
    """

    async def read(self, query: Query, counted: Reading | None = None, /, **params: Any) -> list[Row]:
        """The rows of a read query; none where they hold more characters than `counted` may."""
        ...

    async def write(self, query: Query, **params: Any) -> list[Row]:
        """The rows of a write query, after its transaction was committed."""
        ...

    async def migrate(self) -> list[str]:
        """Brings the schema up to date under a lock; the names of the migrations that were applied."""
        ...

    async def pending_migrations(self) -> list[str]:
        """The names of the migrations that are not applied yet."""
        ...

    async def state(self) -> StoreState:
        """The store's clock, and what its schema lacks."""
        ...

    async def ping(self) -> str:
        """A round trip; answers what database this is, with its version."""
        ...

    async def aclose(self) -> None:
        """Frees connections once nothing runs; what is asked from now on is StoreUnavailable."""
        ...


class WrappedEngine:
    """Another engine, with what a subclass does about its reads and writes."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine

    async def read(self, query: Query, counted: Reading | None = None, /, **params: Any) -> list[Row]:
        """See Engine."""
        return await self._engine.read(query, counted, **params)

    async def write(self, query: Query, **params: Any) -> list[Row]:
        """See Engine."""
        return await self._engine.write(query, **params)

    async def migrate(self) -> list[str]:
        """See Engine."""
        return await self._engine.migrate()

    async def pending_migrations(self) -> list[str]:
        """See Engine."""
        return await self._engine.pending_migrations()

    async def state(self) -> StoreState:
        """See Engine."""
        return await self._engine.state()

    async def ping(self) -> str:
        """See Engine."""
        return await self._engine.ping()

    async def aclose(self) -> None:
        """See Engine."""
        await self._engine.aclose()
