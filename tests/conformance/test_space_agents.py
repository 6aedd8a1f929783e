"""What an application gives each Space of its own follows the Space's settings, in all processes."""

from collections.abc import AsyncIterator

import pytest

from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.requests import CreateSession, Send, SpaceChanges
from stello_graph.model.turn import TurnStatus
from stello_graph.ports import SpaceStore
from stello_graph.service import SpaceAgent, SpaceService, StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.store import GraphStore
from tests.conformance.conftest import OpenEngine


class Process:
    """A service, and how often it has asked its application for an agent of the Space."""

    def __init__(self, store: GraphStore, space_id: str) -> None:
        self.built = 0
        settings = Settings(grace=0.0, agent_idle_seconds=3_600)
        self.graph = StelloGraph(store, ScriptedLLM(), settings, agents=self._agent_of)
        self.space: SpaceService = self.graph.space(space_id)

    async def _agent_of(self, space_id: str) -> SpaceAgent:
        self.built += 1
        name = (await self.graph.store.in_space(space_id).space()).name
        return SpaceAgent(llm=ScriptedLLM(default=name, default_model=name))

    async def reply(self) -> str:
        """What the agent's model answers."""
        turn = await self.space.send(Send(session_id="s", content="hi"))
        assert turn.status is TurnStatus.COMPLETED, turn.error
        return (await self.space.store.turn_messages([turn.id]))[turn.id][-1].content

    async def previewed(self) -> str:
        """The model that a preview is for."""
        async with self.graph.making.now(self.space.store) as agent:
            return agent.llm.default_model


@pytest.fixture
async def processes(space: SpaceStore, open_engine: OpenEngine) -> AsyncIterator[tuple[Process, Process]]:
    """Two services on one database."""
    made = [Process(GraphStore(open_engine()), space.space_id) for _ in range(2)]
    yield made[0], made[1]
    for one in made:
        await one.graph.aclose()


async def test_a_change_in_one_process_is_felt_in_all(processes: tuple[Process, Process]) -> None:
    """The next turn, and whatever else works with the Space, has an agent of the new settings."""
    here, there = processes
    await here.space.create_session(CreateSession(id="s", label="S"))
    assert [await one.reply() for one in processes] == ["Test", "Test"]
    assert [await one.previewed() for one in processes] == ["Test", "Test"]

    await here.space.configure(SpaceChanges(name="Second"))
    assert [await one.reply() for one in processes] == ["Second", "Second"]
    await there.space.configure(SpaceChanges(name="Third"))
    assert [await one.previewed() for one in processes] == ["Third", "Third"]
    assert [await one.reply() for one in processes] == ["Third", "Third"]
    assert [one.built for one in processes] == [3, 3]
