"""Whatever a turn waits for, it can be stopped, and whatever comes of it, it ends at once and legally."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from stello_graph.errors import StoreUnavailable
from stello_graph.forest.hooks import Hooks, MessageEvent
from stello_graph.llm.scripted import ScriptedLLM, tool_use
from stello_graph.model.message import Draft, Message, MessageRole, MessageState, ToolCall
from stello_graph.model.requests import CreateSession
from stello_graph.model.turn import StopReason, Turn, TurnStatus
from stello_graph.model.writes import TurnEnd
from stello_graph.service import SpaceAgent
from stello_graph.store.turns import TurnRepository
from stello_graph.tools import Tool, ToolOutput
from tests.e2e.waiting import until
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_turns import ask, opened, transcript, with_session

Ended = tuple[Turn, list[Message]] | None
LONG = {"lease_seconds": 60.0, "janitor_seconds": 60.0}


async def test_stopped_while_its_agent_is_built(open_graph: OpenGraph) -> None:
    """A turn whose Space's agent never comes is cancelled as any other, and the server stops."""
    asked = asyncio.Event()

    async def never(space_id: str) -> SpaceAgent:
        asked.set()
        await asyncio.Event().wait()
        raise AssertionError

    graph = open_graph(ScriptedLLM(), agents=never, **LONG)
    await graph.open()
    space = graph.space()
    for id in ("s", "other"):
        await space.create_session(CreateSession(id=id))
    turn = await space.start_turn(ask())
    running = await space.start_turn(ask(session_id="other"))
    await asked.wait()

    assert (await space.cancel_turn(turn.id)).status is TurnStatus.CANCELLED
    await graph.turns.stop(0)
    stopped = (await space.store.turns([running.id]))[running.id]
    assert (stopped.status, stopped.stop_reason) == (TurnStatus.FAILED, StopReason.INTERRUPTED)


async def test_no_tool_begins_after_the_cancellation(
    open_graph: OpenGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Cancelled while its reply is stored, a turn runs none of the reply's tools."""
    ran: list[str] = []

    def acts() -> str:
        """Acts."""
        ran.append("acted")
        return "done"

    graph = open_graph(ScriptedLLM([tool_use("acts")]), [Tool(acts)], **LONG)
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(id="s"))
    cancelling: list[asyncio.Task[Turn]] = []
    store_messages = TurnRepository.store_messages

    async def cancelled_meanwhile(
        self: TurnRepository, turn: Turn, messages: Sequence[Draft], **more: Any
    ) -> tuple[Turn, list[Message]] | None:
        stored = await store_messages(self, turn, messages, **more)
        cancelling.append(asyncio.create_task(space.cancel_turn(turn.id)))
        (live,) = graph.turns._live.values()
        await live.cancelled.wait()
        return stored

    monkeypatch.setattr(TurnRepository, "store_messages", cancelled_meanwhile)
    turn = await space.send(ask())
    await asyncio.gather(*cancelling)
    assert turn.status is TurnStatus.CANCELLED
    assert [state for _, _, state in await transcript(space)][-1] is MessageState.CANCELLED
    assert ran == []


async def test_two_cancel_what_waits(open_graph: OpenGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who cancels a waiting turn just after another answers it as it is then, and not as it was."""

    def asks() -> str:
        """Asks first."""
        return "done"

    tools = [Tool(asks, needs_confirmation=True)]
    one, other = (open_graph(ScriptedLLM([tool_use("asks")]), tools, **LONG) for _ in range(2))
    await one.open()
    await other.open()
    await one.space().create_session(CreateSession(id="s"))
    turn = await one.space().send(ask())
    assert turn.status is TurnStatus.AWAITING_CONFIRMATION
    close_dead = other.turns.close_dead

    async def too_late(*args: Any) -> Turn | None:
        await one.space().cancel_turn(turn.id)
        return await close_dead(*args)

    monkeypatch.setattr(other.turns, "close_dead", too_late)
    assert (await other.space().cancel_turn(turn.id)).status is TurnStatus.CANCELLED


async def test_one_that_cannot_be_closed_keeps_no_other_open(
    open_graph: OpenGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A dead turn whose closing fails is logged, and the dead ones behind it are closed."""
    space = await opened(open_graph, ScriptedLLM())
    for id in ("s", "other"):
        await space.create_session(CreateSession(id=id))
        await space.store.begin_turn(
            id, f"turn-{id}", Draft(id=f"said-{id}", role=MessageRole.USER, content="hi"), lease=0
        )
    end_turn = TurnRepository.end_turn

    async def fails(self: TurnRepository, end: TurnEnd) -> Ended:
        if end.turn.id == "turn-s":
            raise RuntimeError("broken")
        return await end_turn(self, end)

    monkeypatch.setattr(TurnRepository, "end_turn", fails)

    async def closed() -> bool:
        return not (await space.store.turns(["turn-other"]))["turn-other"].is_open

    await until(closed, "the turn behind it is closed")
    assert (await space.store.turns(["turn-s"]))["turn-s"].is_open


async def test_an_end_whose_answer_was_lost(open_graph: OpenGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    """An end that was stored though the store said nothing is this process's: it is told, hooks too, once."""
    heard: list[str] = []

    async def reply(event: MessageEvent) -> None:
        heard.append(event.message.content)

    graph = open_graph(ScriptedLLM(["hello"]), hooks=Hooks(on_assistant_reply=reply), **LONG)
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(id="s"))
    end_turn, lost = TurnRepository.end_turn, [True]

    async def unheard(self: TurnRepository, end: TurnEnd) -> Ended:
        ended = await end_turn(self, end)
        if lost:
            lost.clear()
            raise StoreUnavailable("the connection broke")
        return ended

    monkeypatch.setattr(TurnRepository, "end_turn", unheard)
    turn = await space.send(ask())
    assert turn.status is TurnStatus.COMPLETED
    assert [content for _, content, _ in await transcript(space)] == ["hi", "hello"]
    await until(lambda: heard, "the hook ran")
    assert heard == ["hello"]


async def test_an_end_that_no_store_takes(open_graph: OpenGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where the last message cannot be stored the turn fails at once, without it; the next one goes on."""
    graph = open_graph(ScriptedLLM(["too much", "fine"]), **LONG)
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(id="s"))
    end_turn = TurnRepository.end_turn

    async def refuses(self: TurnRepository, end: TurnEnd) -> Ended:
        if any(message.content == "too much" for message in end.messages):
            raise RuntimeError("more than fits")
        return await end_turn(self, end)

    monkeypatch.setattr(TurnRepository, "end_turn", refuses)
    turn = await space.send(ask())
    assert (turn.status, turn.stop_reason) == (TurnStatus.FAILED, StopReason.ERROR)
    assert turn.error is not None
    assert "more than fits" not in turn.error.message
    assert (await space.send(ask())).status is TurnStatus.COMPLETED


@pytest.mark.parametrize(
    ("text", "stored"), [("a\ud800b", "a\ufffdb"), ("x\ud83d\ude00", "x😀"), ("a\x00b", "ab")]
)
async def test_text_that_no_store_takes(open_graph: OpenGraph, text: str, stored: str) -> None:
    """Half of a surrogate pair in a reply becomes a mark, in what is told and in what is stored."""
    space = await with_session(open_graph, ScriptedLLM([text]))
    turn = await space.send(ask())
    assert turn.status is TurnStatus.COMPLETED
    assert (await transcript(space))[-1][1] == stored


@pytest.mark.parametrize("given", ["\ud800", float("nan"), {1, 2}])
async def test_calls_and_results_that_no_store_takes(open_graph: OpenGraph, given: Any) -> None:
    """What JSON does not know in a call or in the parts of a result is stored as what comes nearest."""

    def shows(what: Any) -> ToolOutput:
        """Shows something."""
        part = {"type": "text", "text": "seen"}
        return ToolOutput(parts=[part if given == "\ud800" else part | {"more": given}])

    call = ToolCall(id="a\ud800", name="shows", arguments={"what": given})
    said = tool_use("shows").model_copy(update={"tool_calls": (call,)})
    graph = open_graph(ScriptedLLM([said, "ok"]), [Tool(shows)], **LONG)
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(id="s"))
    turn = await space.send(ask())
    assert turn.status is TurnStatus.COMPLETED
    _, asked, result, _ = (await space.store.turn_messages([turn.id]))[turn.id]
    assert [call.id for call in asked.tool_calls] == ["a\ufffd"] == [result.tool_call_id]
    assert not result.is_error
    assert result.parts[0]["text"] == "seen"
