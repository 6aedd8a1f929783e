from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from stello_graph.forest.functions import Functions
from stello_graph.forest.hooks import HooksProvider
from stello_graph.ports import LLM
from stello_graph.service import SpaceAgent, StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.sqlite import SqliteEngine
from stello_graph.store.store import GraphStore
from stello_graph.tools import Tool

OpenGraph = Callable[..., StelloGraph]


@pytest.fixture
async def open_graph(tmp_path: Path) -> AsyncIterator[OpenGraph]:
    """Opens services on one file, each as a process of its own would; times are short."""
    graphs: list[StelloGraph] = []

    def opened(
        llm: LLM,
        tools: Sequence[Tool] = (),
        functions: Functions | None = None,
        hooks: HooksProvider | Sequence[HooksProvider] = (),
        agents: Callable[[str], Awaitable[SpaceAgent]] | None = None,
        **changed: Any,
    ) -> StelloGraph:
        times = {"lease_seconds": 0.6, "renew_seconds": 0.05, "janitor_seconds": 0.1, "follow_seconds": 0.02}
        times |= {"scheduler_seconds": 0.05, "task_retry_seconds": 0.05}
        path = tmp_path / "stello.db"
        settings = Settings(grace=0.0, store=f"sqlite:///{path}", **(times | changed))
        store = GraphStore(SqliteEngine(path))
        graph = StelloGraph(
            store, llm, settings, functions=functions, tools=tools, hooks=hooks, agents=agents
        )
        graphs.append(graph)
        return graph

    async with AsyncExitStack() as stack:
        yield opened
        for graph in graphs:
            stack.push_async_callback(graph.aclose)
