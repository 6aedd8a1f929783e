"""What an application gives each Space of its own: built once, kept while it is used, closed after."""

import asyncio

import pytest

from stello_graph.llm.scripted import Pause, ScriptedLLM
from stello_graph.model.requests import CreateSession, Send, SpaceChanges
from stello_graph.model.turn import TurnStatus
from stello_graph.service import SpaceAgent, SpaceService, StelloGraph
from stello_graph.tools import Tool
from tests.e2e.waiting import until
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_tools import nothing
from tests.unit.forest.test_turns import ask


class Agents:
    """Gives each Space a model that says the Space's name and how often it was built."""

    def __init__(self) -> None:
        self.built: list[str] = []
        self.closed: list[str] = []
        self.fails = False

    async def __call__(self, space_id: str) -> SpaceAgent:
        await asyncio.sleep(0.02)
        if self.fails:
            raise RuntimeError("no key for this Space")
        self.built.append(space_id)
        name = f"{space_id} {self.built.count(space_id)}"

        async def close() -> None:
            self.closed.append(name)

        return SpaceAgent(llm=ScriptedLLM(default=name), tools=[Tool(nothing)], close=close)


async def spaces(
    open_graph: OpenGraph, agents: Agents, **more: float
) -> tuple[StelloGraph, list[SpaceService]]:
    graph = open_graph(ScriptedLLM(default="the server's"), agents=agents, **more)
    await graph.open()
    await graph.store.ensure_space("other", "Other")
    found = [graph.space(), graph.space("other")]
    for space in found:
        for number in range(6):
            await space.create_session(CreateSession(id=f"s{number}" if number else "s"))
    return graph, found


async def reply(space: SpaceService, session: str = "s") -> str:
    turn = await space.send(Send(session_id=session, content="hi"))
    assert turn.status is TurnStatus.COMPLETED, turn.error
    return (await space.store.turn_messages([turn.id]))[turn.id][-1].content


@pytest.mark.covers("W41")
async def test_each_space_has_its_own(open_graph: OpenGraph) -> None:
    """Its model answers its turns and previews with its tools, and nobody else's; it is built once (W41)."""
    agents = Agents()
    _, (one, other) = await spaces(open_graph, agents)
    replies = await asyncio.gather(*(reply(space, f"s{n}") for space in (one, other) for n in range(1, 6)))
    assert replies == ["default 1"] * 5 + ["other 1"] * 5
    assert sorted(agents.built) == ["default", "other"]
    assert "nothing" in {tool.name for tool in (await one.preview("s", "x")).tools}


async def test_configured_anew(open_graph: OpenGraph) -> None:
    """After configureSpace new turns get a new one; a running turn keeps its own, which closes after it."""
    agents, pause = Agents(), Pause()
    graph, (one, _) = await spaces(open_graph, agents)
    assert await reply(one) == "default 1"
    async with graph.agents.agent("default") as held:
        held.llm.inner.script.append(["kept", pause])  # type: ignore[attr-defined]
    turn = await one.start_turn(ask())
    await pause.reached.wait()
    await one.configure(SpaceChanges(max_tool_rounds=3))
    assert await reply(one, "s1") == "default 2"
    assert agents.closed == []
    pause.over.set()
    await graph.turns.ended(one.store, turn)
    await until(lambda: agents.closed == ["default 1"], "the first one is closed")


@pytest.mark.covers("AGENT-1", "W41")
async def test_dropped_when_idle(open_graph: OpenGraph) -> None:
    """It is closed after the idle time, never under a running turn, and built again when needed."""
    agents, pause = Agents(), Pause()
    graph, (one, _) = await spaces(open_graph, agents, agent_idle_seconds=0.1)
    async with graph.agents.agent("default") as held:
        held.llm.inner.script.append(["long", pause])  # type: ignore[attr-defined]
    turn = await one.start_turn(ask())
    await pause.reached.wait()
    await asyncio.sleep(0.3)
    assert agents.closed == []
    pause.over.set()
    await graph.turns.ended(one.store, turn)
    await until(lambda: agents.closed == ["default 1"], "the idle one is closed")
    assert await reply(one) == "default 2"


async def test_one_that_cannot_be_built(open_graph: OpenGraph) -> None:
    """The turn fails legally and its reason is not shown; the next one asks again."""
    agents = Agents()
    _, (one, _) = await spaces(open_graph, agents)
    agents.fails = True
    turn = await one.send(ask())
    assert turn.status is TurnStatus.FAILED
    assert turn.error is not None
    assert "no key" not in turn.error.message
    with pytest.raises(RuntimeError):
        await one.preview("s", "x")
    agents.fails = False
    assert await reply(one) == "default 1"


@pytest.mark.covers("W24")
async def test_all_are_closed_at_the_end(open_graph: OpenGraph) -> None:
    """Shutdown closes what was built."""
    agents = Agents()
    graph, (one, other) = await spaces(open_graph, agents)
    await asyncio.gather(reply(one), reply(other))
    await graph.aclose()
    assert sorted(agents.closed) == ["default 1", "other 1"]
