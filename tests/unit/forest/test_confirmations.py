"""Calls that wait for a person: answered by whichever process, today or tomorrow."""

import asyncio
from typing import Any

import pytest

from stello_graph.errors import Conflict, NotFound, SessionBusy, TurnHasEnded
from stello_graph.llm.scripted import ScriptedLLM, Step
from stello_graph.model.message import Message, MessageRole, MessageState
from stello_graph.model.requests import CreateSession, WhenBusy
from stello_graph.model.turn import (
    ConfirmationRequested,
    StopReason,
    ToolCallStarted,
    Turn,
    TurnEnded,
    TurnStatus,
)
from stello_graph.service import SpaceService
from stello_graph.tools import Tool
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_tools import calls, results, stored
from tests.unit.forest.test_turns import ask, collected


class Machine:
    """Tools that count what they did."""

    def __init__(self) -> None:
        self.done: list[str] = []

    async def look(self) -> str:
        """Looks."""
        self.done.append("look")
        return "seen"

    async def erase(self) -> str:
        """Erases."""
        self.done.append("erase")
        return "erased"

    @property
    def tools(self) -> list[Tool]:
        return [Tool(self.look), Tool(self.erase, needs_confirmation=True)]


async def opened(open_graph: OpenGraph, machine: Machine, *script: Step, **more: Any) -> SpaceService:
    graph = open_graph(ScriptedLLM(script, **more), machine.tools)
    await graph.open()
    return graph.space()


async def waiting(open_graph: OpenGraph, machine: Machine, *script: Step) -> tuple[SpaceService, Turn]:
    space = await opened(open_graph, machine, *(script or (calls("erase", "look"), "done")))
    await space.create_session(CreateSession(id="s", label="S"))
    await space.put_insight("s", "look out")
    turn = await space.send(ask())
    return space, turn


async def ended(space: SpaceService, turn: Turn) -> Turn:
    return await asyncio.wait_for(space.graph.turns.ended(space.store, turn), 10)


async def test_siblings_run_and_wait(open_graph: OpenGraph) -> None:
    """send resolves while the turn waits; what needs no confirmation has run, nothing of it is stored yet."""
    machine = Machine()
    space, turn = await waiting(open_graph, machine)
    assert (turn.status, turn.stop_reason, machine.done) == (TurnStatus.AWAITING_CONFIRMATION, None, ["look"])
    assert [call.name for call in turn.pending_tool_calls] == ["erase"]
    assert [m.role for m in await stored(space)] == [MessageRole.USER, MessageRole.ASSISTANT]
    with pytest.raises(SessionBusy) as busy:
        await space.send(ask(when_busy=WhenBusy.REJECT))
    assert busy.value.details["turnId"] == turn.id


@pytest.mark.covers("W30")
@pytest.mark.parametrize("approve", [True, False])
async def test_answered(open_graph: OpenGraph, approve: bool) -> None:
    """Approved it runs, refused the model hears why; results are stored in the model's order."""
    machine = Machine()
    space, turn = await waiting(open_graph, machine)
    going = await space.confirm(turn.id, "c0", approve=approve, reason="not today")
    assert going.status is TurnStatus.RUNNING
    over = await ended(space, going)
    assert (over.status, over.stop_reason, over.tool_rounds) == (TurnStatus.COMPLETED, StopReason.END_TURN, 1)
    first, second = await results(space)
    told = ("erased", False) if approve else ("The user refused this call: not today", True)
    assert (first.content, first.is_error) == told
    assert second.content == "seen"
    assert machine.done == (["look", "erase"] if approve else ["look"])
    assert (await space.store.sessions(["s"]))["s"].insight is None, "the pinned insight was consumed"


@pytest.mark.covers("W2")
async def test_the_insight_stays_pinned(open_graph: OpenGraph) -> None:
    """Each round has the insight that the turn began with, whatever came while it waited; that stays."""
    machine = Machine()
    space, turn = await waiting(open_graph, machine)
    await space.put_insight("s", "a newer one")
    await ended(space, await space.confirm(turn.id, "c0", approve=True))
    requests = space.graph.llm.requests  # type: ignore[attr-defined]
    for request in requests:
        assert "look out" in [message.content for message in request.messages]
        assert "a newer one" not in [message.content for message in request.messages]
    insight = (await space.store.sessions(["s"]))["s"].insight
    assert insight is not None
    assert insight.content == "a newer one"


@pytest.mark.covers("W30", "W39")
async def test_answered_by_another_process(open_graph: OpenGraph) -> None:
    """The process that asked may be gone; the next request equals what it would have sent."""
    machine, other_machine = Machine(), Machine()
    first, turn = await waiting(open_graph, machine)
    await first.graph.aclose()
    second = await opened(open_graph, other_machine, "done elsewhere")
    going = await second.confirm(turn.id, "c0", approve=True)
    over = await ended(second, going)
    assert over.status is TurnStatus.COMPLETED
    assert (machine.done, other_machine.done) == (["look"], ["erase"])
    assert [m.content for m in await stored(second)] == ["hi", "", "erased", "seen", "done elsewhere"]
    (request,) = second.graph.llm.requests  # type: ignore[attr-defined]
    told = [(m.role, m.content, m.tool_call_id) for m in request.messages[2:]]
    assert told == [
        ("user", "hi", None),
        ("assistant", "", None),
        ("tool", "erased", "c0"),
        ("tool", "seen", "c1"),
    ]


async def test_all_answers_are_needed(open_graph: OpenGraph) -> None:
    """The turn goes on with the last answer; the same again returns it, the opposite is CONFLICT."""
    machine = Machine()
    space, turn = await waiting(open_graph, machine, calls("erase", "erase"), "done")
    noted = await space.confirm(turn.id, "c1", approve=False)
    assert (noted.status, [call.id for call in noted.pending_tool_calls]) == (
        TurnStatus.AWAITING_CONFIRMATION,
        ["c0"],
    )
    assert machine.done == []
    over = await ended(space, await space.confirm(turn.id, "c0", approve=True))
    assert over.status is TurnStatus.COMPLETED
    assert await space.confirm(turn.id, "c1", approve=False) == over
    with pytest.raises(Conflict):
        await space.confirm(turn.id, "c1", approve=True)
    with pytest.raises(NotFound):
        await space.confirm(turn.id, "c9", approve=True)
    assert machine.done == ["erase"]


@pytest.mark.parametrize("interrupted", [True, False])
async def test_cancelled_while_it_waits(open_graph: OpenGraph, interrupted: bool) -> None:
    """cancelTurn and INTERRUPT end it legally: results that came are kept, the others are CANCELLED."""
    machine = Machine()
    space, turn = await waiting(open_graph, machine, calls("erase", "look"), "next")
    if interrupted:
        assert (await space.send(ask(when_busy=WhenBusy.INTERRUPT))).status is TurnStatus.COMPLETED
        over = (await space.store.turns([turn.id]))[turn.id]
    else:
        over = await space.cancel_turn(turn.id)
    assert (over.status, over.stop_reason, over.error) == (TurnStatus.CANCELLED, StopReason.CANCELLED, None)
    written: list[Message] = (await space.store.turn_messages([turn.id]))[turn.id]
    assert [(m.content, m.state) for m in written[2:]] == [
        ("Cancelled: the turn was cancelled.", MessageState.CANCELLED),
        ("seen", MessageState.COMPLETE),
    ]
    with pytest.raises(TurnHasEnded):
        await space.confirm(turn.id, "c0", approve=True)
    assert machine.done == ["look"]
    assert (await space.send(ask("again"))).status in (TurnStatus.COMPLETED, TurnStatus.FAILED)


async def test_deleted_while_it_waits(open_graph: OpenGraph) -> None:
    """The turn is cancelled first, then all goes."""
    space, turn = await waiting(open_graph, Machine())
    assert await space.delete("s", 1) == ["s"]
    with pytest.raises(NotFound):
        await space.confirm(turn.id, "c0", approve=True)


async def test_events_over_the_wait(open_graph: OpenGraph) -> None:
    """A follower is told of the question, stays, and hears the rest; a replay hears the same."""
    space, turn = await waiting(open_graph, Machine())
    following = asyncio.create_task(collected(space.turn_events(turn.id)))
    await asyncio.sleep(0.05)
    elsewhere = await opened(open_graph, Machine())
    far = asyncio.create_task(collected(elsewhere.turn_events(turn.id)))
    await asyncio.sleep(0.05)
    assert not following.done()
    await space.confirm(turn.id, "c0", approve=True)
    heard, there = await asyncio.wait_for(asyncio.gather(following, far), 10)
    again = await collected(space.turn_events(turn.id))
    kinds = [type(event).__name__ for event in again]
    assert kinds == [
        "TurnStarted",
        "MessageStored",
        "MessageStored",
        "ToolCallStarted",
        "ConfirmationRequested",
        "ToolCallFinished",
        "ToolCallStarted",
        "ToolCallFinished",
        "MessageStored",
        "MessageStored",
        "TextDelta",
        "MessageStored",
        "TurnEnded",
    ]
    for told in (heard, there):
        assert [(event.seq, type(event)) for event in told] == [(event.seq, type(event)) for event in again]
    asked = [event.tool_call.id for event in again if isinstance(event, ConfirmationRequested)]
    started = [event.tool_call.id for event in again if isinstance(event, ToolCallStarted)]
    assert (asked, started) == (["c0"], ["c1", "c0"])
    assert isinstance(again[-1], TurnEnded)


async def test_answered_while_the_others_run(open_graph: OpenGraph) -> None:
    """A quick answer saves the turn its waiting."""
    gate, asked = asyncio.Event(), asyncio.Event()

    async def slow() -> str:
        asked.set()
        await gate.wait()
        return "slow"

    machine = Machine()
    graph = open_graph(ScriptedLLM([calls("erase", "slow"), "done"]), [*machine.tools, Tool(slow)])
    await graph.open()
    space = graph.space()
    await space.create_session(CreateSession(id="s", label="S"))
    turn = await space.start_turn(ask())
    await asked.wait()
    noted = await space.confirm(turn.id, "c0", approve=True)
    assert noted.status is TurnStatus.RUNNING
    gate.set()
    assert (await ended(space, turn)).status is TurnStatus.COMPLETED
    assert machine.done == ["erase"]


async def test_a_process_that_dies_after_the_answer(open_graph: OpenGraph) -> None:
    """Only waiting is resumed: a turn whose holder died is closed, since its tools may have acted."""
    first, turn = await waiting(open_graph, Machine())
    running, resumed = await first.store.confirm_call(turn.id, "c0", approve=True, reason="", lease=0.05)
    assert resumed
    other = await opened(open_graph, Machine(), "fresh")
    over = await ended(other, running)
    assert (over.status, over.stop_reason) == (TurnStatus.FAILED, StopReason.INTERRUPTED)
    assert [m.state for m in await results(other)] == [MessageState.CANCELLED, MessageState.COMPLETE]
    assert (await other.send(ask())).status is TurnStatus.COMPLETED
