"""Consolidating: the digest that others read."""

import asyncio

import pytest

from stello_graph.errors import Conflict, ModelRefused, ModelUnavailable, NotFound, SessionArchived
from stello_graph.llm.scripted import Pause, ScriptedLLM
from stello_graph.model.requests import CreateSession, Send
from stello_graph.model.values import Usage
from stello_graph.service import SpaceService
from tests.unit.forest.conftest import OpenGraph


async def talked(open_graph: OpenGraph, llm: ScriptedLLM) -> SpaceService:
    llm.script.appendleft("an answer")
    graph = open_graph(llm)
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(id="s", label="S"))
    await space.send(Send(session_id="s", content="a question"))
    return space


@pytest.mark.covers("MEM-1")
async def test_consolidate(open_graph: OpenGraph) -> None:
    """The transcript becomes the digest, thinking removed; its usage counts for session and Space."""
    llm = ScriptedLLM(["<think>hm</think>It was answered."], usage=Usage(input_tokens=7, llm_calls=1))
    space = await talked(open_graph, llm)
    session = await space.consolidate("s")
    assert session.memory == "It was answered."
    assert session.usage.llm_calls == 2
    assert session.usage == (await space.store.space()).usage
    asked = llm.requests[-1].messages[-1].content
    assert "a question" in asked
    assert "an answer" in asked


@pytest.mark.covers("MEM-2", "S4")
async def test_nothing_said_nothing_called(open_graph: OpenGraph) -> None:
    """An empty transcript calls no model and changes nothing."""
    llm = ScriptedLLM()
    space = await talked(open_graph, llm)
    await space.create_session(CreateSession(id="empty"))
    assert (await space.consolidate("empty")).memory is None
    assert len(llm.requests) == 1


@pytest.mark.covers("MEM-3", "S4")
@pytest.mark.parametrize("fault", [ModelUnavailable("away"), "  ", "<think>only</think>"])
async def test_the_old_digest_stays(open_graph: OpenGraph, fault: ModelUnavailable | str) -> None:
    """A model that fails or says nothing is an error with the model's code; L2 is as before."""
    space = await talked(open_graph, ScriptedLLM([fault] * 3))
    await space.put_memory("s", "old")
    with pytest.raises(ModelUnavailable if isinstance(fault, ModelUnavailable) else ModelRefused):
        await space.consolidate("s")
    assert (await space.store.sessions(["s"]))["s"].memory == "old"


async def test_what_a_person_wrote_meanwhile_stays(open_graph: OpenGraph) -> None:
    """A digest is written only over the one that it was made from."""
    pause = Pause()
    space = await talked(open_graph, ScriptedLLM([["made", pause, " up"]]))
    working = asyncio.create_task(space.consolidate("s"))
    await pause.reached.wait()
    await space.put_memory("s", "by hand")
    pause.over.set()
    with pytest.raises(Conflict):
        await working
    assert (await space.store.sessions(["s"]))["s"].memory == "by hand"


@pytest.mark.covers("MEM-2")
async def test_archived_sessions_are_not_consolidated(open_graph: OpenGraph) -> None:
    """By hand: unarchive it first."""
    space = await talked(open_graph, ScriptedLLM())
    await space.archive("s")
    with pytest.raises(SessionArchived):
        await space.consolidate("s")


@pytest.mark.parametrize("fault", ["  ", "by hand", "archived"])
async def test_work_that_is_not_stored_is_paid_for(open_graph: OpenGraph, fault: str) -> None:
    """A digest that is empty or comes too late has cost its call: session and Space say so."""
    took = Usage(input_tokens=7, llm_calls=1)
    pause = Pause()
    script: list[object] = [["" if fault == "  " else "made", pause, "  "]]
    space = await talked(open_graph, ScriptedLLM(script, usage=took))  # type: ignore[arg-type]
    working = asyncio.create_task(space.consolidate("s"))
    await pause.reached.wait()
    if fault == "by hand":
        await space.put_memory("s", "by hand")
    if fault == "archived":
        await space.archive("s")
    pause.over.set()

    with pytest.raises((ModelRefused, Conflict, SessionArchived)):
        await working

    session = (await space.store.sessions(["s"]))["s"]
    assert session.usage == took + took == (await space.store.space()).usage


async def test_a_session_deleted_meanwhile_is_no_error_of_its_own(open_graph: OpenGraph) -> None:
    """There is nothing left to count for."""
    pause = Pause()
    space = await talked(open_graph, ScriptedLLM([["made", pause]]))
    working = asyncio.create_task(space.consolidate("s"))
    await pause.reached.wait()
    await space.delete("s", 1)
    pause.over.set()

    with pytest.raises(NotFound):
        await working
