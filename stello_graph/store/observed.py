"""An engine that tells of each query: its name, how long it took and how it ended."""

from typing import Any

from stello_graph.model.values import StoreState
from stello_graph.ports.observing import Kind, Observers
from stello_graph.store.engine import Engine, Row
from stello_graph.store.queries import Query

__all__ = ["ObservedEngine"]


class ObservedEngine:
    """Another engine, watched."""

    def __init__(self, engine: Engine, observers: Observers) -> None:
        self._engine = engine
        self._observers = observers

    async def read(self, query: Query, **params: Any) -> list[Row]:
        """See Engine."""
        with self._observers.watch(Kind.QUERY, query.name, facts={"access": "read"}):
            return await self._engine.read(query, **params)

    async def write(self, query: Query, **params: Any) -> list[Row]:
        """See Engine."""
        with self._observers.watch(Kind.QUERY, query.name, facts={"access": "write"}):
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
