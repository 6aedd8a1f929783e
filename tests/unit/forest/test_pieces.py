"""Pieces of turns and transcripts: chunks, calls, queued callers, trims, and words that say nothing."""

import asyncio

import pytest

from stello_graph.errors import InvalidInput, ModelRefused
from stello_graph.llm.offline import OfflineLLM
from stello_graph.llm.scripted import Pause, ScriptedLLM, tool_use
from stello_graph.model.context import ContextOrigin
from stello_graph.model.memory import InsightDraft
from stello_graph.model.message import MessageRole, ToolCall
from stello_graph.model.requests import CreateSession
from stello_graph.model.turn import TextDelta, TurnStatus
from stello_graph.session.prompts import COMPRESS_PROMPT
from stello_graph.tools import Tool
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_tools import nothing, stored, with_tools
from tests.unit.forest.test_turns import ask, collected, said, transcript, with_session


@pytest.mark.covers("TURN-3")
async def test_no_empty_piece_is_told(open_graph: OpenGraph) -> None:
    """What the model sends in pieces comes in their order; empty pieces are none."""
    pauses = [Pause() for _ in range(3)]
    beats = [beat for n, pause in enumerate(pauses) for beat in ("", f"piece {n} ", pause)]
    space = await with_session(open_graph, ScriptedLLM([["", *beats, "", "end"]]))
    turn = await space.start_turn(ask())
    following = asyncio.create_task(collected(space.turn_events(turn.id)))
    for pause in pauses:
        await pause.reached.wait()
        await asyncio.sleep(0.01)
        pause.over.set()

    heard = await following

    texts = [event.text for event in heard if isinstance(event, TextDelta)]
    assert texts == ["piece 0 ", "piece 1 ", "piece 2 ", "end"]
    assert said(heard) == (await transcript(space))[-1][1]


@pytest.mark.covers("TURN-2")
async def test_a_reply_keeps_its_calls(open_graph: OpenGraph) -> None:
    """In the transcript, and among the messages of the turn that its caller gets."""
    space = await with_tools(
        open_graph, [tool_use("nothing", {}, id="c1", text="Look."), "done"], Tool(nothing)
    )

    turn = await space.send(ask())

    reply = (await stored(space))[1]
    assert (reply.content, reply.tool_calls) == ("Look.", (ToolCall(id="c1", name="nothing", arguments={}),))
    assert reply in (await space.store.turn_messages([turn.id]))[turn.id]


@pytest.mark.covers("TURN-6")
async def test_who_gives_up_while_waiting_asks_nobody(open_graph: OpenGraph) -> None:
    """A caller that goes away before its turn began leaves no message and no request."""
    pause = Pause()
    llm = ScriptedLLM([["first", pause]])
    space = await with_session(open_graph, llm)
    turn = await space.start_turn(ask("one"))
    await pause.reached.wait()
    waiting = asyncio.create_task(space.send(ask("two")))
    await asyncio.sleep(0.05)

    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    pause.over.set()
    await space.graph.turns.ended(space.store, turn)
    await asyncio.sleep(0.05)

    assert len(llm.requests) == 1
    assert [content for _, content, _ in await transcript(space)] == ["one", "first"]


@pytest.mark.covers("MSG-2")
async def test_a_negative_number_keeps_nothing(open_graph: OpenGraph) -> None:
    """It is refused, and all is there."""
    space = await with_session(open_graph, ScriptedLLM(["hello"]))
    await space.send(ask())

    with pytest.raises(InvalidInput, match="keepLast"):
        await space.trim("s", -1)

    assert len(await transcript(space)) == 2


@pytest.mark.covers("INS-4")
@pytest.mark.parametrize("content", ["", " \n"])
async def test_an_insight_that_says_nothing(open_graph: OpenGraph, content: str) -> None:
    """It is as good as none, by itself; among several it is refused with them all."""
    llm = ScriptedLLM(["hello"])
    space = await with_session(open_graph, llm)
    waiting = await space.put_insight("s", "look here")
    with pytest.raises(InvalidInput):
        await space.put_insights([InsightDraft(session_id="s", content=content)])
    assert (await space.store.sessions(["s"]))["s"] == waiting

    assert (await space.put_insight("s", content)).insight is None

    await space.send(ask())
    assert all(message.origin is not ContextOrigin.INSIGHT for message in llm.requests[0].messages)


@pytest.mark.covers("TC19")
async def test_a_summary_in_the_language_of_the_conversation(open_graph: OpenGraph) -> None:
    """The task asks for it; the offline model summarises a Chinese conversation in Chinese."""
    assert "language of the conversation" in COMPRESS_PROMPT
    graph = open_graph(OfflineLLM(delay=0))
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(id="s", label="酒店"))
    await space.send(ask("我们选海边的酒店，预算三千元。"))

    compression = (await space.compact("s", keep_last=0)).compression

    assert compression is not None
    assert "海边的酒店" in compression.summary
    assert (await transcript(space))[0][0] is MessageRole.USER


@pytest.mark.covers("TURN-4")
async def test_a_turn_that_fails_lets_the_next_one_in(open_graph: OpenGraph) -> None:
    """Who waited behind it goes on, in the order of the queue."""
    pause = Pause()
    llm = ScriptedLLM([[pause, ModelRefused("no")], "two", "three"])
    space = await with_session(open_graph, llm)
    first = await space.start_turn(ask("one"))
    await pause.reached.wait()
    waiting = [asyncio.create_task(space.send(ask(content))) for content in ("two", "three")]
    await asyncio.sleep(0.02)

    pause.over.set()

    turns = await asyncio.gather(*waiting)
    assert [turn.status for turn in turns] == [TurnStatus.COMPLETED] * 2
    assert (await space.store.turns([first.id]))[first.id].status is TurnStatus.FAILED
    assert [content for _, content, _ in await transcript(space)] == ["one", "two", "two", "three", "three"]


@pytest.mark.covers("SES-1")
async def test_a_session_without_an_id_gets_one_of_its_own(open_graph: OpenGraph) -> None:
    """Each another one."""
    space = await with_session(open_graph, ScriptedLLM())

    made = [await space.create_session(CreateSession(label="same")) for _ in range(5)]

    assert len({session.id for session in made} - {"s", ""}) == 5


@pytest.mark.covers("REC-1")
async def test_a_record_touches_no_other(open_graph: OpenGraph) -> None:
    """Neither those beside it nor those that its path begins or goes on with."""
    space = await with_session(open_graph, ScriptedLLM())
    for key in ("a", "a.b", "a.b.c", "a.c"):
        await space.put_record(key, {"of": key})

    await space.put_record("a.b", "new")

    found = {record.key: record.value for record in await space.store.records("", after="", first=10)}
    assert found == {"a": {"of": "a"}, "a.b": "new", "a.b.c": {"of": "a.b.c"}, "a.c": {"of": "a.c"}}
    assert await space.store.record("a.b.d") is None
