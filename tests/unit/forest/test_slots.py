"""Turns of a Space that run at once: refused before anything is written."""

import asyncio

import pytest

from stello_graph.errors import LimitExceeded, SessionBusy
from stello_graph.llm.scripted import Pause, ScriptedLLM
from stello_graph.model.requests import CreateSession, WhenBusy
from stello_graph.model.turn import TurnStatus
from stello_graph.service import SpaceService, StelloGraph
from stello_graph.tools import Tool
from tests.unit.forest.conftest import OpenGraph
from tests.unit.forest.test_tools import calls
from tests.unit.forest.test_turns import ask


async def with_sessions(graph: StelloGraph, count: int) -> SpaceService:
    await graph.open()
    space = graph.space()
    for number in range(count):
        await space.create_session(CreateSession(id=f"s{number}"))
    return space


async def test_a_full_space_begins_no_turn(open_graph: OpenGraph) -> None:
    """Beyond max_turns a turn is LIMIT_EXCEEDED, retryable, and writes nothing; another Space has its own."""
    pauses = [Pause(), Pause()]
    graph = open_graph(ScriptedLLM([[pause, "done"] for pause in pauses] + ["third"]), max_turns=2)
    space = await with_sessions(graph, 3)
    running = [await space.start_turn(ask(session_id=f"s{number}")) for number in range(2)]
    for pause in pauses:
        await pause.reached.wait()

    with pytest.raises(LimitExceeded) as refused:
        await space.start_turn(ask(session_id="s2"))
    assert refused.value.details["retryable"] is True
    found = (await space.store.sessions(["s2"]))["s2"]
    assert (found.message_count, found.open_turn_id) == (0, None)

    await graph.store.ensure_space("other", "Other")
    other = graph.space("other")
    await other.create_session(CreateSession(id="s2"))
    assert (await other.send(ask(session_id="s2"))).status is TurnStatus.COMPLETED

    for pause in pauses:
        pause.over.set()
    for turn in running:
        await graph.turns.ended(space.store, turn)


async def test_a_repeated_key_needs_no_room(open_graph: OpenGraph) -> None:
    """Its turn is answered though the Space is full, ended or running, here or elsewhere; a new key and
    another input are not."""
    pause = Pause()
    graph = open_graph(ScriptedLLM(["first", [pause, "second"]]), max_turns=1)
    space = await with_sessions(graph, 3)
    ended = await space.send(ask(session_id="s0", idempotency_key="ended"))
    running = await space.start_turn(ask(session_id="s1", idempotency_key="running"))
    await pause.reached.wait()

    assert await space.send(ask(session_id="s0", idempotency_key="ended")) == ended
    assert (await space.start_turn(ask(session_id="s1", idempotency_key="running"))).id == running.id
    for refused in (
        ask(session_id="s0"),
        ask(session_id="s2", idempotency_key="new"),
        ask("another", session_id="s0", idempotency_key="ended"),
        ask(session_id="s2", idempotency_key="ended"),
    ):
        with pytest.raises(LimitExceeded):
            await space.start_turn(refused)

    other = open_graph(ScriptedLLM(), max_turns=1)
    await other.open()
    with other.turns._slots.one("default", busy=False):
        assert (await other.space().start_turn(ask(session_id="s1", idempotency_key="running"))) == running
    pause.over.set()
    await graph.turns.ended(space.store, running)


async def test_a_turn_that_is_over_makes_room_at_once(open_graph: OpenGraph) -> None:
    """One after another without a gap, and after refusals of every kind, with room for one."""
    graph = open_graph(ScriptedLLM(default="done"), max_turns=1)
    space = await with_sessions(graph, 2)
    for number in range(20):
        assert (await space.send(ask(session_id=f"s{number % 2}"))).status is TurnStatus.COMPLETED
        with pytest.raises(Exception, match="no session"):
            await space.send(ask(session_id="nobody"))


async def test_who_waits_in_a_queue_has_no_place_yet(open_graph: OpenGraph) -> None:
    """Three wait for a session that is busy; another session still finds room beside its turn. A busy
    session is SESSION_BUSY, and a repeated key joins its turn, even where there is no room at all."""
    pause = Pause()
    llm = ScriptedLLM([[pause, "first"]], default="done")
    graph = open_graph(llm, max_turns=2)
    space = await with_sessions(graph, 2)
    first = await space.start_turn(ask(session_id="s0", idempotency_key="k"))
    await pause.reached.wait()
    queued = [asyncio.create_task(space.send(ask(f"q{n}", session_id="s0"))) for n in range(3)]
    with pytest.raises(SessionBusy):
        await space.send(ask(session_id="s0", when_busy=WhenBusy.REJECT))
    assert (await space.send(ask(session_id="s1"))).status is TurnStatus.COMPLETED
    with space.graph.turns._slots.one("default", busy=False):
        with pytest.raises(SessionBusy):
            await space.send(ask(session_id="s0", when_busy=WhenBusy.REJECT))
        again = ask(session_id="s0", idempotency_key="k", when_busy=WhenBusy.REJECT)
        assert (await space.start_turn(again)).id == first.id
        with pytest.raises(LimitExceeded):
            await space.send(ask(session_id="s1"))
    pause.over.set()
    assert {turn.status for turn in await asyncio.gather(*queued)} == {TurnStatus.COMPLETED}


async def test_a_turn_that_waits_for_a_person_makes_room(open_graph: OpenGraph) -> None:
    """It takes a place again when it is confirmed, and is refused, unanswered, while there is none."""

    async def erase() -> str:
        """Erases."""
        return "erased"

    pause = Pause()
    llm = ScriptedLLM([calls("erase"), [pause, "other"], "erased it"])
    graph = open_graph(llm, [Tool(erase, needs_confirmation=True)], max_turns=1)
    space = await with_sessions(graph, 2)
    waiting = await space.send(ask(session_id="s0"))
    assert waiting.status is TurnStatus.AWAITING_CONFIRMATION
    call = waiting.pending_tool_calls[0].id
    other = await space.start_turn(ask(session_id="s1"))
    await pause.reached.wait()
    with pytest.raises(LimitExceeded):
        await space.confirm(waiting.id, call, approve=True)
    pause.over.set()
    await graph.turns.ended(space.store, other)
    resumed = await space.confirm(waiting.id, call, approve=True)
    assert (await graph.turns.ended(space.store, resumed)).status is TurnStatus.COMPLETED
