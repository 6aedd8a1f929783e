"""Clients that vanish leave nothing behind."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stello_graph.graphql.schema import schema
from stello_graph.llm.scripted import Pause, ScriptedLLM
from stello_graph.model.requests import CreateSession, Send
from stello_graph.model.turn import TurnStatus
from stello_graph.service import StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.store import GraphStore
from tests.unit.graphql.conftest import Api, RecordingEngine

EVENTS = "subscription($id: ID!) { turnEvents(turnId: $id) { seq } }"


def process(folder: Path, llm: ScriptedLLM) -> Api:
    engine = RecordingEngine(folder / "stello.db")
    settings = Settings(grace=0, follow_seconds=0.02, scheduler_seconds=3600, janitor_seconds=3600)
    return Api(StelloGraph(GraphStore(engine), llm, settings), engine)


@pytest.mark.covers("TC23-GONE", "W25")
@pytest.mark.parametrize("elsewhere", [False, True], ids=["the turn's process", "another process"])
async def test_followers_that_vanish(tmp_path: Path, elsewhere: bool) -> None:
    """Ten of them go away in the middle: no task and no polling is left, and the turn completes."""
    pause = Pause()
    one, two = process(tmp_path, ScriptedLLM([["so far", pause, "!"]])), process(tmp_path, ScriptedLLM())
    async with one.graph, two.graph:
        space = one.graph.space()
        await space.create_session(CreateSession(id="s"))
        turn = await space.start_turn(Send(session_id="s", content="hi"))
        await pause.reached.wait()
        api = two if elsewhere else one
        await asyncio.sleep(0.05)
        before = len(asyncio.all_tasks())
        followers = [await follower(api, turn.id) for _ in range(10)]
        two.engine.ran.clear()
        await asyncio.sleep(0.1)
        assert bool(two.engine.ran) == elsewhere, "another process asks the store"

        for each in followers:
            each.cancel()
        await asyncio.gather(*followers, return_exceptions=True)
        await asyncio.sleep(0.1)

        assert len(asyncio.all_tasks()) == before
        two.engine.ran.clear()
        await asyncio.sleep(0.1)
        assert two.engine.ran == []
        pause.over.set()
        assert (await one.graph.turns.ended(space.store, turn)).status is TurnStatus.COMPLETED


async def follower(api: Api, turn: str) -> asyncio.Task[None]:
    """A task that has heard of the turn's start and goes on listening."""
    heard = asyncio.Event()

    async def listen() -> None:
        events = await schema.subscribe(EVENTS, variable_values={"id": turn}, context_value=api.context())
        assert isinstance(events, AsyncIterator)
        async for event in events:
            assert event.errors is None
            heard.set()

    task = asyncio.create_task(listen())
    await asyncio.wait_for(heard.wait(), 10)
    return task
