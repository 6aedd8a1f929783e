from collections.abc import AsyncIterator, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette

from stello_graph.http.app import app_of
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.service import StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.store import GraphStore
from tests.unit.graphql.conftest import RecordingEngine

OpenApp = Callable[..., Any]
KEY = "a-key-of-thirty-two-characters-and-more"


class App:
    """The whole app over a store that remembers its statements."""

    def __init__(self, graph: StelloGraph, engine: RecordingEngine) -> None:
        self.graph = graph
        self.engine = engine
        self.asgi: Starlette = app_of(graph, opens=False)

    @property
    def ran(self) -> list[str]:
        """The statements since the last `forget`, but for those of the background."""
        return self.engine.ran

    def forget(self) -> None:
        """Forgets what ran."""
        self.engine.ran.clear()


@pytest.fixture
async def open_app(tmp_path: Path) -> AsyncIterator[OpenApp]:
    """Opens apps with settings."""
    async with AsyncExitStack() as stack:

        async def opened(llm: ScriptedLLM | None = None, **settings: Any) -> App:
            engine = RecordingEngine(tmp_path / "stello.db")
            given = Settings(grace=0, scheduler_seconds=3600, janitor_seconds=3600, **settings)
            graph = StelloGraph(GraphStore(engine), llm or ScriptedLLM(default="done"), given)
            await stack.enter_async_context(graph)
            return App(graph, engine)

        yield opened
