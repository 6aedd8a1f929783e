"""The turn protocol with a scripted model; processes are services of their own on one file."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from stello_graph.errors import Conflict, InvalidInput, ModelUnavailable, SessionArchived, SessionBusy
from stello_graph.llm.scripted import Pause, ScriptedLLM, Step
from stello_graph.model.context import ContextOrigin, Reply, ReplyStop
from stello_graph.model.message import MessageRole, MessageState
from stello_graph.model.requests import AppendedMessage, CreateSession, Send, WhenBusy
from stello_graph.model.turn import (
    MessageStored,
    StopReason,
    TextDelta,
    Turn,
    TurnEnded,
    TurnEvent,
    TurnStatus,
)
from stello_graph.service import SpaceService, StelloGraph
from tests.unit.forest.conftest import OpenGraph


async def opened(open_graph: OpenGraph, llm: ScriptedLLM) -> SpaceService:
    graph = open_graph(llm)
    await graph.open()
    return graph.space()


async def with_session(open_graph: OpenGraph, llm: ScriptedLLM) -> SpaceService:
    space = await opened(open_graph, llm)
    await space.create_session(CreateSession(id="s", label="S"))
    return space


async def transcript(space: SpaceService) -> list[tuple[MessageRole, str, MessageState]]:
    found = await space.store.oldest_messages(["s"], after=0, before=10_000, first=1_000, roles=None)
    return [(message.role, message.content, message.state) for message in found["s"]]


async def collected(events: AsyncIterator[TurnEvent]) -> list[TurnEvent]:
    return [event async for event in events]


def ask(content: str = "hi", **more: object) -> Send:
    return Send.model_validate({"session_id": "s", "content": content, **more})


@pytest.mark.covers("TURN-1", "TURN-5", "W30")
async def test_a_turn(open_graph: OpenGraph) -> None:
    """User message and reply are stored; counters, usage and the map follow."""
    space = await with_session(open_graph, ScriptedLLM(["hello"]))
    turn = await space.send(ask())
    assert (turn.status, turn.stop_reason, turn.error) == (TurnStatus.COMPLETED, StopReason.END_TURN, None)
    assert await transcript(space) == [
        (MessageRole.USER, "hi", MessageState.COMPLETE),
        (MessageRole.ASSISTANT, "hello", MessageState.COMPLETE),
    ]
    session = (await space.store.sessions(["s"]))["s"]
    node = (await space.store.nodes(["s"]))["s"]
    assert session.turn_count == node.turn_count == 1
    assert session.open_turn_id is None
    assert session.last_active_at == node.last_active_at == turn.ended_at


@pytest.mark.covers("CTX-6")
async def test_the_preview_is_the_request(open_graph: OpenGraph) -> None:
    """contextPreview shows, part for part, what the model then gets."""
    llm = ScriptedLLM(["one", "two"])
    space = await with_session(open_graph, llm)
    await space.send(ask("first"))
    await space.put_insight("s", "look here")
    preview = await space.preview("s", "second")
    await space.send(ask("second"))
    assert llm.requests[-1].messages == preview.messages


@pytest.mark.covers("INS-1")
async def test_an_insight_is_there_once(open_graph: OpenGraph) -> None:
    """It is in the next completed turn's prompt, and gone after."""
    llm = ScriptedLLM(["one", "two"])
    space = await with_session(open_graph, llm)
    await space.put_insight("s", "look here")
    await space.send(ask())
    await space.send(ask())
    origins = [[message.origin for message in request.messages] for request in llm.requests]
    assert [ContextOrigin.INSIGHT in each for each in origins] == [True, False]
    assert (await space.store.sessions(["s"]))["s"].insight is None


@pytest.mark.covers("W3")
async def test_an_insight_survives_a_failure_and_a_newer_one_survives_the_turn(open_graph: OpenGraph) -> None:
    """Only a completed turn consumes, and only the revision that it was pinned with."""
    pause = Pause()
    llm = ScriptedLLM([ModelUnavailable("away")] * 3 + [["a", pause, "b"]])
    space = await with_session(open_graph, llm)
    await space.put_insight("s", "first")
    failed = await space.send(ask())
    assert failed.status is TurnStatus.FAILED
    assert failed.error is not None
    insight = (await space.store.sessions(["s"]))["s"].insight
    assert insight is not None
    assert insight.content == "first"
    turn = await space.start_turn(ask())
    await pause.reached.wait()
    await space.put_insight("s", "second")
    pause.over.set()
    await space.graph.turns.ended(space.store, turn)
    insight = (await space.store.sessions(["s"]))["s"].insight
    assert insight is not None
    assert insight.content == "second"


@pytest.mark.covers("TURN-5")
async def test_a_failed_turn_is_no_error(open_graph: OpenGraph) -> None:
    """What was said before the failure is kept TRUNCATED; the user message stays; the next turn goes on."""
    space = await with_session(open_graph, ScriptedLLM([["par", ModelUnavailable("broke off")], "fine"]))
    turn = await space.send(ask())
    assert turn.status is TurnStatus.FAILED
    assert turn.error is not None
    assert turn.error.retryable
    assert (await transcript(space))[-1] == (MessageRole.ASSISTANT, "par", MessageState.TRUNCATED)
    assert (await space.send(ask())).status is TurnStatus.COMPLETED
    session = (await space.store.sessions(["s"]))["s"]
    assert session.turn_count == 1, "only completed turns count"


async def test_max_tokens_and_refusal(open_graph: OpenGraph) -> None:
    """A reply cut by max_tokens is TRUNCATED, a refusal without text stores none; both complete the turn."""
    cut = Reply(text="half", stop=ReplyStop.MAX_TOKENS, model="m")
    refused = Reply(text="", stop=ReplyStop.REFUSAL, model="m")
    space = await with_session(open_graph, ScriptedLLM([cut, refused]))
    turn = await space.send(ask())
    assert (turn.status, turn.stop_reason) == (TurnStatus.COMPLETED, StopReason.MAX_TOKENS)
    turn = await space.send(ask())
    assert (turn.status, turn.stop_reason) == (TurnStatus.COMPLETED, StopReason.REFUSAL)
    assert [state for _, _, state in await transcript(space)] == [
        MessageState.COMPLETE,
        MessageState.TRUNCATED,
        MessageState.COMPLETE,
    ]


async def test_cancel(open_graph: OpenGraph) -> None:
    """A cancelled turn keeps what was said; cancelling an ended turn answers it as it is."""
    pause = Pause()
    space = await with_session(open_graph, ScriptedLLM([["so far", pause]]))
    turn = await space.start_turn(ask())
    await pause.reached.wait()
    cancelled = await space.cancel_turn(turn.id)
    assert (cancelled.status, cancelled.stop_reason) == (TurnStatus.CANCELLED, StopReason.CANCELLED)
    assert (await transcript(space))[-1] == (MessageRole.ASSISTANT, "so far", MessageState.TRUNCATED)
    assert await space.cancel_turn(turn.id) == cancelled


@pytest.mark.covers("TURN-4")
async def test_queue_is_first_come_first_served(open_graph: OpenGraph) -> None:
    """Turns of one session follow each other in the order in which they were asked for."""
    space = await with_session(open_graph, ScriptedLLM(default="ok"))
    sends = [asyncio.create_task(space.send(ask(str(n)))) for n in range(6)]
    await asyncio.gather(*sends)
    assert [text for role, text, _ in await transcript(space) if role is MessageRole.USER] == list("012345")


@pytest.mark.covers("TURN-4", "W19")
async def test_busy(open_graph: OpenGraph) -> None:
    """REJECT is SESSION_BUSY at once with the turn's id; QUEUE after its timeout; other sessions go on."""
    pause = Pause()
    llm = ScriptedLLM([["x", pause]], default="ok")
    space = await with_session(open_graph, llm)
    await space.create_session(CreateSession(id="other"))
    turn = await space.start_turn(ask())
    await pause.reached.wait()
    for more in ({"when_busy": WhenBusy.REJECT}, {"queue_timeout_ms": 60}):
        with pytest.raises(SessionBusy) as busy:
            await space.send(ask(**more))
        assert busy.value.details["turnId"] == turn.id
    with pytest.raises(SessionBusy):
        await space.append("s", [AppendedMessage(role=MessageRole.USER, content="x")])
    with pytest.raises(SessionBusy):
        await space.trim("s", 1)
    assert (await space.send(Send(session_id="other", content="x"))).status is TurnStatus.COMPLETED
    pause.over.set()
    assert (await space.graph.turns.ended(space.store, turn)).status is TurnStatus.COMPLETED
    assert len(await transcript(space)) == 2, "what was refused wrote nothing"


async def test_interrupt(open_graph: OpenGraph) -> None:
    """INTERRUPT cancels the running turn and goes next, before those who queue."""
    pause = Pause()
    space = await with_session(open_graph, ScriptedLLM([["long", pause]], default="ok"))
    turn = await space.start_turn(ask())
    await pause.reached.wait()
    queued = []
    for content in ("queued", "queued after it"):
        queued.append(asyncio.create_task(space.send(ask(content))))
        await asyncio.sleep(0.05)
    both = (space.send(ask(content, when_busy=WhenBusy.INTERRUPT)) for content in ("now", "now too"))
    interrupting = await asyncio.wait_for(asyncio.gather(*both), 10)
    assert interrupting[0].status in (TurnStatus.COMPLETED, TurnStatus.CANCELLED), "by the second"
    assert interrupting[1].status is TurnStatus.COMPLETED
    assert {one.status for one in await asyncio.gather(*queued)} == {TurnStatus.COMPLETED}
    assert (await space.store.turns([turn.id]))[turn.id].status is TurnStatus.CANCELLED
    said = [content for role, content, _ in await transcript(space) if role is MessageRole.USER]
    assert said == ["hi", "now", "now too", "queued", "queued after it"]
    assert space.graph.turns._queues._queues == {}


async def test_idempotency(open_graph: OpenGraph) -> None:
    """The same key joins the running turn and replays the ended one; other content is CONFLICT."""
    pause = Pause()
    llm = ScriptedLLM([["x", pause, "y"]], default="other")
    space = await with_session(open_graph, llm)
    first = asyncio.create_task(space.send(ask(idempotency_key="k")))
    await pause.reached.wait()
    second = asyncio.create_task(space.send(ask(idempotency_key="k", when_busy=WhenBusy.REJECT)))
    await asyncio.sleep(0.05)
    pause.over.set()
    assert await first == await second == await space.send(ask(idempotency_key="k"))
    with pytest.raises(Conflict):
        await space.send(ask("else", idempotency_key="k"))
    assert len(llm.requests) == 1
    assert len(await transcript(space)) == 2


@pytest.mark.covers("TURN-3", "W25")
async def test_events_live_and_again(open_graph: OpenGraph) -> None:
    """A follower from the start, one from the middle, and a replay hear the same."""
    pause = Pause()
    space = await with_session(open_graph, ScriptedLLM([["你好", pause, "🙂!"]]))
    turn = await space.start_turn(ask())
    live = asyncio.create_task(collected(space.turn_events(turn.id)))
    await pause.reached.wait()
    late = asyncio.create_task(collected(space.turn_events(turn.id, 3)))
    await asyncio.sleep(0.01)
    pause.over.set()
    heard, rest, again = await live, await late, await collected(space.turn_events(turn.id))
    assert [event.seq for event in heard if not isinstance(event, TextDelta)] == [1, 2, 7, 8]
    assert said(heard) == said(again) == "你好🙂!"
    assert said(rest) == "好🙂!"
    assert isinstance(heard[-1], TurnEnded)
    assert heard[-1].seq == again[-1].seq == rest[-1].seq
    stored = [event.message for event in heard if isinstance(event, MessageStored)]
    assert stored == [event.message for event in again if isinstance(event, MessageStored)]


async def test_another_process_follows_and_cancels(open_graph: OpenGraph) -> None:
    """Text arrives through the store at the pace of the renewals; cancelTurn works from anywhere."""
    pause = Pause()
    space = await with_session(open_graph, ScriptedLLM([["far away", pause]]))
    other = await opened(open_graph, ScriptedLLM())
    turn = await space.start_turn(ask())
    await pause.reached.wait()
    following = asyncio.create_task(collected(other.turn_events(turn.id)))
    await asyncio.sleep(0.15)
    cancelled = await other.cancel_turn(turn.id)
    assert cancelled.status is TurnStatus.CANCELLED
    heard = await following
    assert said(heard) == "far away"
    assert isinstance(heard[-1], TurnEnded)


@pytest.mark.covers("W19", "W39")
async def test_two_processes_never_interleave(open_graph: OpenGraph) -> None:
    """Whoever asks, the turns of one session follow each other."""
    one = await with_session(open_graph, ScriptedLLM(default="ok"))
    two = await opened(open_graph, ScriptedLLM(default="ok"))
    await asyncio.gather(*(space.send(ask(str(n))) for n in range(5) for space in (one, two)))
    roles = [role for role, _, _ in await transcript(one)]
    assert roles == [MessageRole.USER, MessageRole.ASSISTANT] * 10


@pytest.mark.covers("W26")
async def test_a_dead_holders_turn_is_closed_by_whoever_looks(open_graph: OpenGraph) -> None:
    """FAILED with INTERRUPTED, its stored text TRUNCATED; the holder that comes back writes nothing."""
    pause = Pause()
    dead = await with_session(open_graph, ScriptedLLM([["lost", pause, "words"]]))
    turn = await dead.start_turn(ask())
    await pause.reached.wait()
    await asyncio.sleep(0.12)
    freeze(dead.graph)
    other = await opened(open_graph, ScriptedLLM(default="ok"))
    ended = await other.graph.turns.ended(other.store, turn)
    assert (ended.status, ended.stop_reason) == (TurnStatus.FAILED, StopReason.INTERRUPTED)
    assert ended.error is not None
    assert ended.error.retryable
    pause.over.set()
    assert (await other.send(ask())).status is TurnStatus.COMPLETED
    assert [text for _, text, _ in await transcript(other)] == ["hi", "lost", "hi", "ok"]


async def test_archived_sessions_take_no_turns_but_end_theirs(open_graph: OpenGraph) -> None:
    """The end never looks at the status."""
    pause = Pause()
    space = await with_session(open_graph, ScriptedLLM([["x", pause]]))
    turn = await space.start_turn(ask())
    await pause.reached.wait()
    await space.archive("s")
    pause.over.set()
    assert (await space.graph.turns.ended(space.store, turn)).status is TurnStatus.COMPLETED
    with pytest.raises(SessionArchived):
        await space.send(ask())


async def test_a_stopped_server_cuts_legally(open_graph: OpenGraph) -> None:
    """After the grace period turns are cut, and what was said is kept."""
    pause = Pause()
    space = await with_session(open_graph, ScriptedLLM([["half", pause]]))
    turn = await space.start_turn(ask())
    await pause.reached.wait()
    await space.graph.turns.stop(0)
    stored = (await space.store.turns([turn.id]))[turn.id]
    assert (stored.status, stored.stop_reason) == (TurnStatus.FAILED, StopReason.INTERRUPTED)
    assert (await transcript(space))[-1] == (MessageRole.ASSISTANT, "half", MessageState.TRUNCATED)


@pytest.mark.covers("W25", "TC13")
async def test_a_caller_that_goes_away_does_not_stop_its_turn(open_graph: OpenGraph) -> None:
    """Cancelling the caller at any moment leaves a turn that ends, or none at all."""
    space = await with_session(open_graph, ScriptedLLM(default="ok"))
    for delay in (0.0, 0.0005, 0.001, 0.002, 0.004, 0.008):
        caller = asyncio.create_task(space.send(ask()))
        await asyncio.sleep(delay)
        caller.cancel()
        await asyncio.gather(caller, return_exceptions=True)
    await space.send(ask("last"))
    roles = [role for role, _, _ in await transcript(space)]
    assert roles == [MessageRole.USER, MessageRole.ASSISTANT] * (len(roles) // 2)
    turns = (await space.store.turns_of(["s"], before=10_000, first=100))["s"]
    assert {turn.status for turn in turns} == {TurnStatus.COMPLETED}


async def test_nothing_said_is_no_turn(open_graph: OpenGraph) -> None:
    """Blank content is INVALID_INPUT, before anything is written."""
    space = await with_session(open_graph, ScriptedLLM())
    with pytest.raises(InvalidInput):
        await space.send(ask("  \n"))
    assert await transcript(space) == []


def said(events: list[TurnEvent]) -> str:
    return "".join(event.text for event in events if isinstance(event, TextDelta))


def freeze(graph: StelloGraph) -> None:
    """As if the process hung: its turns are not renewed any more."""

    async def never(*_: object, **__: object) -> Turn:
        await asyncio.sleep(3600)
        raise AssertionError

    for live in graph.turns._live.values():
        live.store.renew_turn = never  # type: ignore[method-assign, assignment]


async def test_blank_text_that_is_not_stored_is_not_told(open_graph: OpenGraph) -> None:
    """A reply that breaks off while it is blank leaves nothing: no number is told twice; else all is told."""
    broken: list[Step] = [[" \n", ModelUnavailable("gone")], [" \n", "so", ModelUnavailable("gone")], " \n"]
    space = await with_session(open_graph, ScriptedLLM(broken))
    for texts, last in [([], 3), ([" \nso"], 8), ([" \n"], 6)]:
        turn = await space.start_turn(ask())
        events = await asyncio.wait_for(collected(space.turn_events(turn.id)), 5)
        assert [event.text for event in events if isinstance(event, TextDelta)] == texts
        assert isinstance(events[-1], TurnEnded)
        assert events[-1].seq == last
