from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.service import StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.sqlite import SqliteEngine
from stello_graph.store.store import GraphStore

OpenGraph = Callable[[ScriptedLLM], StelloGraph]


@pytest.fixture
async def open_graph(tmp_path: Path) -> AsyncIterator[OpenGraph]:
    """Opens services on one file, each as a process of its own would; times are short."""
    graphs: list[StelloGraph] = []

    def opened(llm: ScriptedLLM) -> StelloGraph:
        settings = Settings(
            lease_seconds=0.6, renew_seconds=0.05, janitor_seconds=0.1, follow_seconds=0.02, grace=0.0
        )
        graph = StelloGraph(GraphStore(SqliteEngine(tmp_path / "stello.db")), llm, settings)
        graphs.append(graph)
        return graph

    async with AsyncExitStack() as stack:
        yield opened
        for graph in graphs:
            stack.push_async_callback(graph.aclose)
