import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import aclosing
from contextvars import ContextVar
from pathlib import Path
from typing import Any

import pytest

from stello_graph.graphql.context import Context
from stello_graph.graphql.schema import schema
from stello_graph.ids import DEFAULT_SPACE
from stello_graph.llm.offline import OfflineLLM
from stello_graph.model.values import KeyScope, Viewer
from stello_graph.service import StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.engine import Row
from stello_graph.store.queries import Query
from stello_graph.store.reading import Reading
from stello_graph.store.sqlite import SqliteEngine
from stello_graph.store.store import GraphStore

# Whether the current task works for a caller, not in the background.
ASKING: ContextVar[bool] = ContextVar("ASKING", default=False)


class RecordingEngine(SqliteEngine):
    """The embedded engine, which remembers the names of the queries that it ran, and of those for callers."""

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.ran: list[str] = []
        self.everything: list[str] = []

    async def read(self, query: Query, counted: Reading | None = None, /, **params: Any) -> list[Row]:
        self._remember(query)
        return await super().read(query, counted, **params)

    async def write(self, query: Query, **params: Any) -> list[Row]:
        self._remember(query)
        return await super().write(query, **params)

    def _remember(self, query: Query) -> None:
        self.everything.append(query.name)
        if ASKING.get():
            self.ran.append(query.name)


class Api:
    """GraphQL without HTTP, as an ADMIN of the Space `default`."""

    def __init__(self, graph: StelloGraph, engine: RecordingEngine, scope: KeyScope = KeyScope.ADMIN) -> None:
        self.graph = graph
        self.engine = engine
        self.scope = scope

    def context(self) -> Context:
        ASKING.set(True)
        return Context(self.graph, Viewer(space_id=DEFAULT_SPACE, scope=self.scope))

    async def ask(self, document: str, **variables: Any) -> dict[str, Any]:
        result = await schema.execute(document, variable_values=variables, context_value=self.context())
        assert result.errors is None, result.errors
        assert result.data is not None
        return result.data

    async def refused(self, document: str, **variables: Any) -> dict[str, Any]:
        """The extensions of the first error, with its message."""
        result = await schema.execute(document, variable_values=variables, context_value=self.context())
        assert result.errors, result.data
        return {**(result.errors[0].extensions or {}), "message": result.errors[0].message}

    async def follow(self, document: str, count: int, **variables: Any) -> list[Any]:
        """The first results of a subscription."""
        found = await schema.subscribe(document, variable_values=variables, context_value=self.context())
        assert isinstance(found, AsyncGenerator), found
        async with aclosing(found), asyncio.timeout(60):
            return [await anext(found) for _ in range(count)]

    async def cost(self, document: str, **variables: Any) -> list[str]:
        """The names of the queries that a document costs."""
        self.engine.ran.clear()
        await self.ask(document, **variables)
        return list(self.engine.ran)


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[Api]:
    engine = RecordingEngine(tmp_path / "stello.db")
    settings = Settings(grace=0, scheduler_seconds=3600)
    async with StelloGraph(GraphStore(engine), OfflineLLM(delay=0), settings) as graph:
        yield Api(graph, engine)
