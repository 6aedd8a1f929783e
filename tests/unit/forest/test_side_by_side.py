"""What does not wait for what: forks of several sources, tasks that fail."""

import asyncio
from pathlib import Path

import pytest

from stello_graph.errors import ModelRefused
from stello_graph.llm.scripted import Pause, ScriptedLLM, Step
from stello_graph.model.context import ModelRequest
from stello_graph.model.requests import CreateSession
from stello_graph.model.space import Trigger
from stello_graph.model.values import ForkContext, SessionRole
from tests.unit.forest import test_scheduler as tasks
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_fork import forked, opened, talked


@pytest.mark.covers("FORK-11")
async def test_forks_of_two_sources(open_graph: OpenGraph) -> None:
    """While one source is summarised, others are forked, that one too, and turns run in it."""
    pause = Pause()
    space = await opened(open_graph, ScriptedLLM([["su", pause, "m"], "sum of empty"]))
    await talked(space)
    await talked(space, "empty")
    slow = asyncio.create_task(forked(space, context=ForkContext.COMPRESS, id="slow"))
    await pause.reached.wait()

    await asyncio.wait_for(forked(space, "empty", context=ForkContext.COMPRESS), 10)
    await asyncio.wait_for(forked(space), 10)

    assert not slow.done()
    pause.over.set()
    assert (await slow).id == "slow"


@pytest.mark.covers("SCH-5")
@pytest.mark.parametrize("fails", ["CONSOLIDATE", "INTEGRATE"])
async def test_a_failed_task_stops_no_other(open_graph: OpenGraph, tmp_path: Path, fails: str) -> None:
    """Each is decided apart: the other is done, and what failed is told as an event."""

    def answer(request: ModelRequest) -> Step:
        task = "CONSOLIDATE" if "对话记录" in request.messages[-1].content else "INTEGRATE"
        return ModelRefused("no") if task == fails else f"done: {task}"

    space = await tasks.opened(
        open_graph,
        ScriptedLLM(default=answer),
        [Trigger.ON_LEAVE],
        [Trigger.ON_LEAVE],
        task_retry_seconds=1000,
    )
    await space.create_session(CreateSession(id="main", role=SessionRole.MAIN))
    for id in "ab":
        await space.create_session(CreateSession(id=id, parent_id="main"))
    await space.put_memory("b", "known of b")
    await space.append("a", [tasks.said("hello")])
    await space.enter("a", "tab")

    await space.leave("a", "tab")

    async def both() -> bool:
        done = await space.store.sessions(["main", "a"])
        wrote = done["a"].memory if fails == "INTEGRATE" else done["main"].synthesis
        return bool(wrote and tasks.failures(tmp_path / "stello.db"))

    await tasks.until(both)
    assert {one["task"] for one in tasks.failures(tmp_path / "stello.db")} == {fails}
