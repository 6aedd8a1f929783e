"""One turn, as a front-end lives through it."""

import asyncio
import contextlib
import threading
import time

import httpx
import pytest

from tests.e2e import documents
from tests.e2e.client import Client, Event, Follower, Refused
from tests.e2e.replies import MIXED, slow
from tests.e2e.waiting import until
from tests.model_server import Answer, ModelServer, Refuse, say

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)


def kinds(events: list[Event]) -> list[str]:
    """The kinds of events, neighbouring deltas as one."""
    found: list[str] = []
    for event in events:
        if event["__typename"] != "TextDelta" or found[-1:] != ["TextDelta"]:
            found.append(event["__typename"])
    return found


def check_numbers(events: list[Event], start: int = 0) -> None:
    """One number for each event, and one for each code point of a delta."""
    seq = start
    for event in events:
        seq += len(event["text"]) if event["__typename"] == "TextDelta" else 1
        assert event["seq"] == seq, event


def held(text: str, at: int) -> tuple[Answer, threading.Event]:
    """A reply that stops before delta number `at` until the gate is opened."""
    gate = threading.Event()
    return Answer([say(text)], chunk=5, gate=gate, gate_at=at), gate


async def test_a_started_turn_is_followed_to_its_end(
    here: Client, model_server: ModelServer, name: str
) -> None:
    """Started, the user's message, text, the reply, ended: numbered by events and code points."""
    model_server.script(slow(MIXED, pause=0.005, chunk=3))
    await here.create(name)
    turn = await here.start(name, "你好 👋")
    assert (turn["status"], turn["reply"], turn["endedAt"]) == ("RUNNING", None, None)

    events = await here.events(turn["id"])

    check_numbers(events)
    assert kinds(events) == ["TurnStarted", "MessageStored", "TextDelta", "MessageStored", "TurnEnded"]
    assert events[0]["turn"]["status"] == "RUNNING"
    assert events[-1]["turn"] == {"id": turn["id"], "status": "COMPLETED", "stopReason": "END_TURN"}
    stored = [event["message"] for event in events if event["__typename"] == "MessageStored"]
    assert [(one["seq"], one["role"], one["content"]) for one in stored] == [
        (1, "USER", "你好 👋"),
        (2, "ASSISTANT", MIXED),
    ]
    assert "".join(e["text"] for e in events if e["__typename"] == "TextDelta") == MIXED
    assert stored == await here.transcript(name)


async def test_a_follower_that_comes_back_misses_nothing(
    here: Client, model_server: ModelServer, name: str
) -> None:
    """What a new connection hears after the last number of the old one is exactly the rest."""
    answer, gate = held(MIXED * 3, 6)
    model_server.script(answer)
    await here.create(name)
    turn = await here.start(name, "Hello")
    async with Follower(here, turn["id"]) as lost:
        await lost.heard(30)
    async with Follower(here, turn["id"], lost.seq) as back:
        gate.set()
        rest = await back.ended()
    assert lost.text + back.text == MIXED * 3
    assert kinds(rest)[-3:] == ["TextDelta", "MessageStored", "TurnEnded"]
    assert rest[-1]["seq"] == lost.seq + len(back.text) + 2


@pytest.mark.covers("W25")
async def test_all_followers_of_a_turn_hear_the_same(
    here: Client, model_server: ModelServer, name: str
) -> None:
    """From the start, from the middle, from beyond the end of what there is yet."""
    model_server.script(slow(MIXED * 2))
    await here.create(name)
    turn = await here.start(name, "Hello")
    whole = 2 + len(MIXED * 2)
    starts = [0, 1, 2, 3, 40, whole, whole + 1]
    heard = await asyncio.gather(*(here.events(turn["id"], after) for after in starts))
    for after, events in zip(starts, heard, strict=True):
        text = "".join(event["text"] for event in events if event["__typename"] == "TextDelta")
        assert text == (MIXED * 2)[max(0, after - 2) :], after
        assert events[-1]["__typename"] == "TurnEnded"
        assert events[-1]["seq"] == whole + 2


@pytest.mark.covers("W25")
@pytest.mark.parametrize("way", ["http", "socket"])
async def test_a_client_that_goes_away_does_not_stop_its_turn(
    here: Client, model_server: ModelServer, name: str, way: str
) -> None:
    """The connection of a `send` breaks in the middle; the reply is stored whole."""
    answer, gate = held("The whole reply.", 1)
    model_server.script(answer)
    await here.create(name)
    given = {"input": {"sessionId": name, "content": "Hello"}}
    if way == "socket":
        async with here.socket() as socket:
            await socket.subscribe(documents.SEND, given)
            await until(answer.reached.is_set, "the model was asked")
    else:
        with contextlib.suppress(httpx.ReadTimeout):
            await here.http.post("/graphql", json={"query": documents.SEND, "variables": given}, timeout=1.0)
    await until(answer.reached.is_set, "the model was asked")
    gate.set()
    (turn,) = (await here.session(name))["turns"]
    await here.events(turn["id"])
    ended = await here.turn(turn["id"])
    assert (ended["status"], ended["reply"]["content"]) == ("COMPLETED", "The whole reply.")


async def test_cancel_keeps_what_was_said(here: Client, model_server: ModelServer, name: str) -> None:
    """CANCELLED, the partial reply TRUNCATED, the next request legal."""
    answer, gate = held(MIXED, 4)
    model_server.script(answer)
    await here.create(name)
    turn = await here.start(name, "Hello")
    async with Follower(here, turn["id"]) as follower:
        await follower.heard(20)
        cancelled = await here.cancel(turn["id"])
        await follower.ended()
    gate.set()
    assert (cancelled["status"], cancelled["stopReason"], cancelled["error"]) == (
        "CANCELLED",
        "CANCELLED",
        None,
    )
    assert (cancelled["reply"]["content"], cancelled["reply"]["state"]) == (MIXED[:20], "TRUNCATED")
    assert follower.text == MIXED[:20]
    assert await here.cancel(turn["id"]) == cancelled

    assert (await here.send(name, "Go on"))["status"] == "COMPLETED"
    assert model_server.refused == []
    assert (await here.session(name))["turnCount"] == 1


@pytest.mark.covers("TURN-6")
async def test_cancel_before_the_first_word(here: Client, model_server: ModelServer, name: str) -> None:
    """No reply is stored; two user messages in a row are legal for the provider."""
    answer, gate = held("Never said", 0)
    model_server.script(answer)
    await here.create(name)
    turn = await here.start(name, "First")
    await until(answer.reached.is_set, "the model was asked")
    cancelled = await here.cancel(turn["id"])
    gate.set()
    assert (cancelled["status"], cancelled["reply"]) == ("CANCELLED", None)
    assert (await here.send(name, "Second"))["reply"]["content"] == "You said: First / Second"
    assert model_server.refused == []


@pytest.mark.covers("W25")
@pytest.mark.parametrize(
    ("answer", "code", "kept"),
    [
        (Answer([say("abcdefghij")], error=("invalid_request_error", "no"), fail_at=0), "LLM_REFUSED", None),
        (
            Answer([say("abcdefghij")], chunk=2, error=("overloaded_error", "Overloaded"), fail_at=3),
            "LLM_UNAVAILABLE",
            "abcdef",
        ),
        (Answer([say("abcdefghij")], chunk=2, drop=True, fail_at=4), "LLM_UNAVAILABLE", "abcdefgh"),
        (Refuse(400, "invalid_request_error", "prompt is too long: 9 > 8"), "CONTEXT_TOO_LONG", None),
        (Refuse(401, "authentication_error", "invalid x-api-key"), "LLM_REFUSED", None),
    ],
    ids=["error before text", "error after text", "broken off", "too long", "wrong key"],
)
async def test_a_model_that_fails_fails_the_turn_only(
    here: Client, model_server: ModelServer, name: str, answer: Answer | Refuse, code: str, kept: str | None
) -> None:
    """FAILED with the model's code; what was said is kept; the insight stays; the next turn is legal."""
    model_server.script(answer)
    await here.create(name)
    await here.ask(documents.INSIGHT, id=name, content="Mind the gap")

    turn = await here.send(name, "Hello")

    assert (turn["status"], turn["stopReason"], turn["error"]["code"]) == ("FAILED", "ERROR", code)
    assert turn["error"]["retryable"] is (code == "LLM_UNAVAILABLE")
    assert turn["reply"] == turn["messages"][-1] if kept else turn["reply"] is None
    if kept:
        assert (turn["reply"]["content"], turn["reply"]["state"]) == (kept, "TRUNCATED")
    session = await here.session(name)
    assert (session["turnCount"], session["insight"]["content"]) == (0, "Mind the gap")

    assert (await here.send(name, "Again"))["status"] == "COMPLETED"
    assert (await here.session(name))["insight"] is None
    assert model_server.refused == []


async def test_max_tokens_and_refusal_complete_the_turn(
    here: Client, model_server: ModelServer, name: str
) -> None:
    """Cut by the model: TRUNCATED and counted. Refused without a word: no reply, and counted."""
    model_server.script(Answer([say("Cut in the mid")], stop="max_tokens"), Answer([], stop="refusal"))
    await here.create(name)
    cut = await here.send(name, "Tell me all")
    assert (cut["status"], cut["stopReason"], cut["error"]) == ("COMPLETED", "MAX_TOKENS", None)
    assert (cut["reply"]["content"], cut["reply"]["state"]) == ("Cut in the mid", "TRUNCATED")
    refused = await here.send(name, "Tell me how")
    assert (refused["status"], refused["stopReason"], refused["reply"]) == ("COMPLETED", "REFUSAL", None)
    assert (await here.send(name, "And now?"))["status"] == "COMPLETED"
    assert (await here.session(name))["turnCount"] == 3
    assert model_server.refused == []


async def test_an_overloaded_model_is_asked_again(here: Client, model_server: ModelServer, name: str) -> None:
    """529 before the first word is not the caller's business, and leaves no trace in the transcript."""
    model_server.script(Refuse(529, "overloaded_error", "Overloaded"), "Here I am.")
    await here.create(name)
    turn = await here.send(name, "Hello?")
    assert (turn["status"], turn["reply"]["content"]) == ("COMPLETED", "Here I am.")
    assert [len(body["messages"]) for body in model_server.requests] == [1, 1]
    assert [message["content"] for message in await here.transcript(name)] == ["Hello?", "Here I am."]


async def test_who_waits_too_long_is_told_who_is_before(
    here: Client, model_server: ModelServer, name: str
) -> None:
    """queueTimeoutMs over: SESSION_BUSY with the turn, nothing written."""
    answer, gate = held("Done at last", 1)
    model_server.script(answer)
    await here.create(name)
    turn = await here.start(name, "First")
    began = time.monotonic()
    with pytest.raises(Refused) as busy:
        await here.send(name, "Second", queueTimeoutMs=400)
    assert time.monotonic() - began >= 0.4
    assert (busy.value.code, busy.value.extensions["turnId"]) == ("SESSION_BUSY", turn["id"])
    with pytest.raises(Refused) as busy:
        await here.ask(documents.APPEND, id=name, messages=[{"role": "USER", "content": "x"}])
    assert (busy.value.code, busy.value.extensions["turnId"]) == ("SESSION_BUSY", turn["id"])
    gate.set()
    await here.events(turn["id"])
    assert [one["content"] for one in await here.transcript(name)] == ["First", "Done at last"]


async def test_a_session_archived_meanwhile_ends_its_turn(
    here: Client, model_server: ModelServer, name: str
) -> None:
    """The running turn completes; the next is refused."""
    answer, gate = held("Said in time.", 1)
    model_server.script(answer)
    await here.create(name)
    turn = await here.start(name, "Hello")
    await until(answer.reached.is_set, "the model was asked")
    await here.ask("mutation ($id: ID!) { archiveSession(id: $id) { status } }", id=name)
    gate.set()
    await here.events(turn["id"])
    ended = await here.turn(turn["id"])
    assert (ended["status"], ended["reply"]["content"]) == ("COMPLETED", "Said in time.")
    with pytest.raises(Refused) as refused:
        await here.send(name, "More")
    assert refused.value.code == "SESSION_ARCHIVED"


async def test_a_deleted_session_takes_its_running_turn_along(
    here: Client, model_server: ModelServer, name: str
) -> None:
    """The turn is cancelled first, its follower hears of an end, and nothing is left."""
    answer, gate = held("Never finished", 1)
    model_server.script(answer)
    await here.create(name)
    turn = await here.start(name, "Hello")
    async with Follower(here, turn["id"]) as follower:
        await follower.heard(1)
        deleted = await here.ask("mutation ($id: ID!) { deleteSession(id: $id, expectedCount: 1) }", id=name)
        assert deleted["deleteSession"] == [name]
        events = await follower.ended()
    gate.set()
    assert events[-1]["turn"]["status"] == "CANCELLED"
    assert await here.turn(turn["id"]) is None
    assert await here.session(name) is None


async def test_followers_of_no_turn_are_refused(here: Client, name: str) -> None:
    """NOT_FOUND for a turn that never was, INVALID_INPUT for a number that cannot be."""
    with pytest.raises(Refused) as unknown:
        await here.events(name)
    assert unknown.value.code == "NOT_FOUND"
    with pytest.raises(Refused) as negative:
        await here.events(name, -1)
    assert negative.value.code == "INVALID_INPUT"
