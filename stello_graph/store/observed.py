"""An engine that tells of each query: its name, how long it took and how it ended."""

from typing import Any

from stello_graph.ports.observing import Kind, Observers
from stello_graph.store.engine import Engine, Row, WrappedEngine
from stello_graph.store.queries import Query
from stello_graph.store.reading import Reading

__all__ = ["ObservedEngine"]


class ObservedEngine(WrappedEngine):
    """Another engine, watched."""

    def __init__(self, engine: Engine, observers: Observers) -> None:
        super().__init__(engine)
        self._observers = observers

    async def read(self, query: Query, counted: Reading | None = None, /, **params: Any) -> list[Row]:
        """See Engine."""
        with self._observers.watch(Kind.QUERY, query.name, facts={"access": "read"}):
            return await super().read(query, counted, **params)

    async def write(self, query: Query, **params: Any) -> list[Row]:
        """See Engine."""
        with self._observers.watch(Kind.QUERY, query.name, facts={"access": "write"}):
            return await super().write(query, **params)
