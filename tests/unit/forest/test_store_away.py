"""A store that fails is an error, and never an empty conversation."""

from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from stello_graph.errors import StoreUnavailable
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.message import MessageRole
from stello_graph.model.requests import AppendedMessage, CreateSession, Fork
from stello_graph.model.values import ForkContext
from stello_graph.service import SpaceService, StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.engine import Row
from stello_graph.store.queries import Query
from stello_graph.store.reading import Reading
from stello_graph.store.sqlite import SqliteEngine
from stello_graph.store.store import GraphStore
from tests.unit.forest.test_turns import ask, transcript

Call = Callable[[SpaceService], Awaitable[Any]]

CALLS: dict[str, Call] = {
    "session": lambda space: space.store.sessions(["s"]),
    "messages": transcript,
    "preview": lambda space: space.preview("s", "next"),
    "consolidate": lambda space: space.consolidate("s"),
    "compact": lambda space: space.compact("s", 0),
    "fork": lambda space: space.fork(Fork(source_session_id="s", label="F", context=ForkContext.COMPRESS)),
    "turn": lambda space: space.send(ask()),
}


class Faulty(SqliteEngine):
    """The embedded engine, which can be away."""

    away = False

    async def read(self, query: Query, counted: Reading | None = None, /, **params: Any) -> list[Row]:
        if self.away:
            raise StoreUnavailable("away")
        return await super().read(query, counted, **params)

    async def write(self, query: Query, **params: Any) -> list[Row]:
        if self.away:
            raise StoreUnavailable("away")
        return await super().write(query, **params)


@pytest.fixture
def engine(tmp_path: Path) -> Faulty:
    return Faulty(tmp_path / "s.db")


@pytest.fixture
async def space(engine: Faulty) -> AsyncIterator[SpaceService]:
    """A Space with a session that holds three messages and a memory."""
    settings = Settings(grace=0, scheduler_seconds=3600, janitor_seconds=3600)
    graph = StelloGraph(GraphStore(engine), ScriptedLLM(default="ok"), settings)
    async with graph:
        space = graph.space()
        await space.create_session(CreateSession(id="s"))
        said = [AppendedMessage(role=MessageRole.USER, content=str(n)) for n in range(3)]
        await space.append("s", said)
        await space.put_memory("s", "known")
        yield space


@pytest.mark.covers("S5")
@pytest.mark.parametrize("call", CALLS)
async def test_nothing_is_made_of_what_could_not_be_read(
    space: SpaceService, engine: Faulty, call: str
) -> None:
    """Each call fails as the store did, no model is asked, and all is there when it is back."""
    before = (await space.store.sessions(["s"]))["s"], await transcript(space)
    engine.away = True

    with pytest.raises(StoreUnavailable):
        await CALLS[call](space)

    engine.away = False
    assert space.graph.llm.requests == []  # type: ignore[attr-defined]
    assert ((await space.store.sessions(["s"]))["s"], await transcript(space)) == before
    assert (await space.store.space()).session_count == 1
