"""An engine that counts what it is asked."""

from collections import Counter
from typing import Any

from stello_graph.store.engine import Engine, Row, WrappedEngine
from stello_graph.store.queries import Query
from stello_graph.store.reading import Reading

__all__ = ["CountingEngine"]

# What a process asks from time to time, whether anybody has a turn or not.
_HOUSEKEEPING = frozenset(
    {
        "turns/expired",
        "tasks/due",
        "keys/in_use",
        "spaces/deleted",
        "events/newest",
        "events/old",
        "search/backlog",
    }
)


class CountingEngine(WrappedEngine):
    """An engine that counts what it runs, by name; housekeeping aside."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.counts = Counter[str]()

    async def read(self, query: Query, counted: Reading | None = None, /, **params: Any) -> list[Row]:
        self._count(query)
        return await super().read(query, counted, **params)

    async def write(self, query: Query, **params: Any) -> list[Row]:
        self._count(query)
        return await super().write(query, **params)

    def _count(self, query: Query) -> None:
        if query.name not in _HOUSEKEEPING:
            self.counts[query.name] += 1
