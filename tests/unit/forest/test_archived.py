"""What an archived session refuses, and what it still does."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from stello_graph.errors import NotFound, SessionArchived
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.message import MessageRole
from stello_graph.model.requests import AppendedMessage, CreateSession, Fork, UpdateSession
from stello_graph.service import SpaceService
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_turns import ask, transcript, with_session

Call = Callable[[SpaceService], Awaitable[Any]]

CALLS: dict[str, Call] = {
    "send": lambda space: space.send(ask()),
    "start": lambda space: space.start_turn(ask()),
    "append": lambda space: space.append("s", [AppendedMessage(role=MessageRole.USER, content="x")]),
    "trim": lambda space: space.trim("s", 0),
    "prompt": lambda space: space.update_session("s", UpdateSession(system_prompt="x")),
    "label": lambda space: space.update_session("s", UpdateSession(label="x")),
    "memory": lambda space: space.put_memory("s", "x"),
    "insight": lambda space: space.put_insight("s", "x"),
    "taking it back": lambda space: space.clear_insight("s"),
    "consolidate": lambda space: space.consolidate("s"),
    "compact": lambda space: space.compact("s", 0),
    "fork": lambda space: space.fork(Fork(source_session_id="s", label="F")),
    "child": lambda space: space.create_session(CreateSession(parent_id="s")),
    "enter": lambda space: space.enter("s", "tab"),
}


async def talked(open_graph: OpenGraph, llm: ScriptedLLM) -> SpaceService:
    space = await with_session(open_graph, llm)
    await space.send(ask("hi"))
    await space.put_memory("s", "m")
    await space.put_insight("s", "i")
    return space


@pytest.mark.covers("SES-3", "W7", "W21")
@pytest.mark.parametrize("call", CALLS)
async def test_it_refuses_whatever_would_change_it(open_graph: OpenGraph, call: str) -> None:
    """SESSION_ARCHIVED, nothing is written, no model is asked; what is there can be read."""
    llm = ScriptedLLM(default="ok")
    space = await talked(open_graph, llm)
    archived = await space.archive("s")

    with pytest.raises(SessionArchived):
        await CALLS[call](space)

    assert (await space.store.sessions(["s"]))["s"] == archived
    assert [content for _, content, _ in await transcript(space)] == ["hi", "ok"]
    assert (await space.store.space()).session_count == 1
    assert len(llm.requests) == 1
    assert (await space.preview("s", "next")).messages[-1].content == "next"


@pytest.mark.covers("SES-5", "W21")
@pytest.mark.parametrize("call", CALLS)
async def test_of_an_unknown_session_nothing_is_found(open_graph: OpenGraph, call: str) -> None:
    """NOT_FOUND from every operation, null where it is read."""
    llm = ScriptedLLM(default="ok")
    space = await talked(open_graph, llm)
    await space.delete("s", 1)

    with pytest.raises(NotFound):
        await CALLS[call](space)

    assert await space.store.sessions(["s"]) == {}
    assert await space.store.nodes(["s"]) == {}
    assert (await space.store.space()).session_count == 0
    assert len(llm.requests) == 1


@pytest.mark.covers("SES-4")
async def test_it_comes_back_as_it_was(open_graph: OpenGraph) -> None:
    """Unarchived it takes turns again, with the insight that waited."""
    llm = ScriptedLLM(default="ok")
    space = await talked(open_graph, llm)
    await space.archive("s")
    await space.unarchive("s")

    await space.send(ask("again"))

    assert "i" in [message.content for message in llm.requests[-1].messages]
