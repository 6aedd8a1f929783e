"""A fork's context as a function chooses it."""

from collections.abc import Sequence
from typing import Any

import pytest

from stello_graph.errors import ForkRefused, InternalError, InvalidInput
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.message import Message, MessageRole, ToolCall
from stello_graph.model.requests import AppendedMessage, CreateSession, Fork
from stello_graph.model.values import ForkContext, SessionRole
from stello_graph.service import SpaceService
from tests.unit.forest.conftest import OpenGraph

pytestmark = pytest.mark.covers("FORK-13")

CALL = ToolCall(id="c", name="look", arguments={"at": 1})
STORED = [
    AppendedMessage(role=MessageRole.USER, content="one"),
    AppendedMessage(role=MessageRole.ASSISTANT, content="two", tool_calls=(CALL,)),
    AppendedMessage(role=MessageRole.TOOL, content="three", tool_call_id="c", tool_name="look"),
    AppendedMessage(role=MessageRole.ASSISTANT, content="four"),
]


async def opened(open_graph: OpenGraph) -> SpaceService:
    graph = open_graph(ScriptedLLM(default="ok"))
    await graph.open()
    space: SpaceService = graph.space()
    await space.create_session(CreateSession(id="s", label="S"))
    await space.append("s", STORED)
    return space


async def forked(space: SpaceService, select: Any, **more: Any) -> tuple[list[Message], Any]:
    made = await space.fork(Fork(source_session_id="s", label="F", **more), select=select)
    page = await space.store.oldest_messages([made.id], after=0, before=100, first=100, roles=None)
    return page[made.id], (await space.store.nodes([made.id]))[made.id]


async def test_some_of_them(open_graph: OpenGraph) -> None:
    """Copies from seq 1 on, whole groups only, then the opening words; the source is recorded."""
    space = await opened(open_graph)
    heard: list[Sequence[Message]] = []

    async def newest(messages: Sequence[Message]) -> Sequence[Message]:
        heard.append(messages)
        return messages[-3:]

    found, node = await forked(space, newest, prompt="Well?")
    assert [m.content for m in heard[0]] == ["one", "two", "three", "four"]
    assert [(m.seq, m.content) for m in found] == [(1, "two"), (2, "three"), (3, "four"), (4, "Well?")]
    assert found[0].tool_calls == (CALL,)
    assert {m.session_id for m in found} == {node.id}
    assert (node.source_session_id, node.source_seq) == ("s", 4)
    assert (await space.preview(node.id, "x")).messages[-1].content == "x"


async def test_messages_of_its_own_and_cut_groups(open_graph: OpenGraph) -> None:
    """What it makes up is stored; a group that it cuts is left out; throughSeq limits what it sees."""
    space = await opened(open_graph)

    def choose(messages: Sequence[Message]) -> list[Message | AppendedMessage]:
        assert [m.seq for m in messages] == [1, 2, 3]
        return [AppendedMessage(role=MessageRole.USER, content="in short"), *messages[1:2]]

    found, node = await forked(space, choose, through_seq=3)
    assert [m.content for m in found] == ["in short"]
    assert node.source_seq == 3


async def test_nothing_chosen(open_graph: OpenGraph) -> None:
    """An empty choice is an empty transcript."""
    found, _ = await forked(await opened(open_graph), lambda _messages: [])
    assert found == []


async def test_refused(open_graph: OpenGraph) -> None:
    """Both ways at once, a MAIN source, and a function that fails: nothing is written."""
    space = await opened(open_graph)

    def broken(_messages: Sequence[Message]) -> list[Message]:
        raise ValueError("secret")

    with pytest.raises(InvalidInput):
        await forked(space, list, context=ForkContext.NONE)
    with pytest.raises(InternalError) as failed:
        await forked(space, broken)
    assert "secret" not in failed.value.message
    await space.create_session(CreateSession(id="main", role=SessionRole.MAIN))
    with pytest.raises(ForkRefused):
        await space.fork(Fork(source_session_id="main", label="F"), select=list)
    assert (await space.store.nodes(["s"]))["s"].child_count == 0
