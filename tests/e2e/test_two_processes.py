"""Two servers on one store: whichever is asked, a session has one turn at a time."""

import asyncio
import itertools
import time
from collections import Counter

import pytest

from tests.e2e import documents
from tests.e2e.client import Client, Follower, Refused
from tests.e2e.conftest import Serve
from tests.e2e.processes import QUICK, Store
from tests.e2e.replies import MIXED, asked, slow
from tests.e2e.test_turns import check_numbers, held, kinds
from tests.model_server import ModelServer

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)

RENEW = float(QUICK["STELLO_RENEW_SECONDS"])


@pytest.mark.covers("W39", "TURN-4")
async def test_turns_of_one_session_never_interleave(
    here: Client, there: Client, model_server: ModelServer, name: str
) -> None:
    """Sent to both at once: each turn's messages stand together, in the order of the turns; none is lost."""
    model_server.respond = lambda body: slow(f"Answer to {asked(body)}", pause=0.01)
    sessions = [await here.create(f"{name}-{number}") for number in range(2)]
    asking = [
        client.send(session, f"{session} {number}", queueTimeoutMs=300_000)
        for session, client, number in itertools.product(sessions, (here, there), range(4))
    ]
    turns = await asyncio.gather(*asking)

    assert Counter(turn["status"] for turn in turns) == {"COMPLETED": len(asking)}
    for session in sessions:
        messages = await there.transcript(session)
        assert [one["seq"] for one in messages] == list(range(1, 17))
        for user, assistant in zip(messages[::2], messages[1::2], strict=True):
            assert (user["role"], assistant["role"]) == ("USER", "ASSISTANT")
            assert user["turnId"] == assistant["turnId"]
            assert assistant["content"] == f"Answer to {user['content']}"
        stored = (await here.session(session))["turns"]
        assert [turn["messages"] for turn in stored] == [messages[at : at + 2] for at in range(0, 16, 2)]
        times = [(turn["startedAt"], turn["endedAt"]) for turn in stored]
        assert [moment for pair in times for moment in pair] == sorted(itertools.chain(*times))
    assert model_server.refused == []


async def test_the_queue_of_one_process_is_first_come_first_served(
    here: Client, model_server: ModelServer, name: str
) -> None:
    """Sent over one socket, so that the order of arrival is known."""
    model_server.respond = lambda body: slow("Yes.", pause=0.02)
    await here.create(name)
    async with here.socket() as socket:
        for number in range(5):
            await socket.subscribe(documents.SEND, {"input": {"sessionId": name, "content": str(number)}})
        for _ in range(10):
            assert (await socket.hear())["type"] in ("next", "complete")
    said = [one["content"] for one in await here.transcript(name) if one["role"] == "USER"]
    assert said == ["0", "1", "2", "3", "4"]


async def test_reject_names_the_turn_of_the_other_process(
    here: Client, there: Client, model_server: ModelServer, name: str
) -> None:
    """SESSION_BUSY at once, retryable, nothing written."""
    answer, gate = held("Busy for a while", 1)
    model_server.script(answer)
    await here.create(name)
    turn = await here.start(name, "First")
    with pytest.raises(Refused) as busy:
        await there.send(name, "Second", whenBusy="REJECT")
    assert busy.value.extensions == {"code": "SESSION_BUSY", "retryable": True, "turnId": turn["id"]}
    gate.set()
    await there.events(turn["id"])
    assert len(await there.transcript(name)) == 2


async def test_interrupt_cancels_the_turn_of_the_other_process(
    here: Client, there: Client, model_server: ModelServer, name: str
) -> None:
    """The running turn ends CANCELLED with what it had said, and the new one begins after it."""
    answer, gate = held(MIXED, 3)
    model_server.script(answer)
    await here.create(name)
    turn = await here.start(name, "First")
    async with Follower(here, turn["id"]) as follower:
        await follower.heard(15)
        second = await there.send(name, "Second", whenBusy="INTERRUPT")
    gate.set()
    first = await there.turn(turn["id"])
    assert (first["status"], first["stopReason"]) == ("CANCELLED", "CANCELLED")
    assert second["status"] == "COMPLETED"
    told = [(one["role"], one["content"], one["state"]) for one in await here.transcript(name)]
    assert told == [
        ("USER", "First", "COMPLETE"),
        ("ASSISTANT", MIXED[:15], "TRUNCATED"),
        ("USER", "Second", "COMPLETE"),
        ("ASSISTANT", "You said: Second", "COMPLETE"),
    ]
    assert model_server.refused == []


async def test_cancel_works_from_the_other_process(
    here: Client, there: Client, model_server: ModelServer, name: str
) -> None:
    """Within about the time between two renewals; the caller gets the ended turn."""
    answer, gate = held(MIXED, 2)
    model_server.script(answer)
    await here.create(name)
    turn = await here.start(name, "Hello")
    async with Follower(here, turn["id"]) as follower:
        await follower.heard(10)
    began = time.monotonic()
    cancelled = await there.cancel(turn["id"])
    took = time.monotonic() - began
    gate.set()
    assert (cancelled["status"], cancelled["reply"]["content"]) == ("CANCELLED", MIXED[:10])
    assert took < RENEW + 5
    assert await there.cancel(turn["id"]) == await here.cancel(turn["id"]) == cancelled


async def test_a_turn_of_the_other_process_can_be_followed(
    here: Client, there: Client, model_server: ModelServer, name: str
) -> None:
    """The same text by the same numbers, while it runs and after each number when it is over."""
    text = MIXED * 2
    model_server.script(slow(text, pause=0.04, chunk=4))
    await here.create(name)
    turn = await here.start(name, "Hello")

    live, afar = await asyncio.gather(here.events(turn["id"]), there.events(turn["id"]))

    for events in (live, afar):
        check_numbers(events)
        assert kinds(events) == ["TurnStarted", "MessageStored", "TextDelta", "MessageStored", "TurnEnded"]
        assert "".join(one["text"] for one in events if one["__typename"] == "TextDelta") == text
    assert sum(one["__typename"] == "TextDelta" for one in afar) > 2
    last = live[-1]["seq"]
    assert last == afar[-1]["seq"] == len(text) + 4
    await check_replays(there, turn["id"], text, last)


async def check_replays(client: Client, turn: str, text: str, last: int) -> None:
    """After each number: the rest of the text, what was stored, the end; nothing twice."""
    async with client.socket() as socket:
        for after in range(last + 2):
            await socket.subscribe(documents.EVENTS, {"id": turn, "after": after})
            events = []
            while (frame := await socket.hear())["type"] != "complete":
                events.append(frame["payload"]["data"]["turnEvents"])
            rest = "".join(one["text"] for one in events if one["__typename"] == "TextDelta")
            assert rest == text[max(0, after - 2) :], after
            stored = [one["message"]["role"] for one in events if one["__typename"] == "MessageStored"]
            assert stored == ["USER", "ASSISTANT"], after
            assert [one["__typename"] for one in events].count("TurnStarted") == (after < 1)
            assert events[-1]["__typename"] == "TurnEnded"
            assert events[-1]["seq"] == last


async def test_a_follower_may_change_the_process_in_the_middle(
    here: Client, there: Client, model_server: ModelServer, name: str
) -> None:
    """From the turn's own process to the other, and back, by the numbers alone."""
    answer, gate = held(MIXED * 2, 9)
    model_server.script(answer)
    await here.create(name)
    turn = await here.start(name, "Hello")
    async with Follower(here, turn["id"]) as first:
        await first.heard(45)
    async with Follower(there, turn["id"], 12) as second:
        await second.heard(35)
    gate.set()
    async with Follower(here, turn["id"], second.seq) as third:
        await third.ended()
    assert first.text == (MIXED * 2)[:45]
    assert first.text[:10] + second.text + third.text == MIXED * 2


async def test_one_key_is_one_turn_in_both_processes(
    here: Client, there: Client, model_server: ModelServer, name: str
) -> None:
    """The same key at once on both: one turn, one request, joined by all. Other content: CONFLICT."""
    model_server.respond = lambda body: slow("Once.", pause=0.05)
    await here.create(name)
    asking = [client.send(name, "Hello", idempotencyKey=name) for client in (here, there, here, there)]
    turns = await asyncio.gather(*asking)
    assert turns == [turns[0]] * 4
    assert turns[0]["status"] == "COMPLETED"
    assert len(model_server.requests) == 1
    assert await there.start(name, "Hello", idempotencyKey=name, whenBusy="REJECT") == turns[0]
    with pytest.raises(Refused) as other:
        await there.send(name, "Something else", idempotencyKey=name)
    assert other.value.code == "CONFLICT"
    assert len(await here.transcript(name)) == 2


async def test_the_turn_of_a_dead_process_is_closed_by_another(
    here: Client,
    serve: Serve,
    shared_store: Store,
    model_server: ModelServer,
    model_settings: dict[str, str],
    name: str,
) -> None:
    """FAILED, INTERRUPTED, its partial text kept; a send that waits goes on without being told."""
    model_server.script(slow(MIXED * 20, pause=0.05), "Here I am.")
    doomed = serve(shared_store, settings={**model_settings, "STELLO_LEASE_SECONDS": "8"})
    await here.create(name)
    async with doomed.client() as client:
        turn = await client.start(name, "Hello")
        async with Follower(here, turn["id"]) as follower:
            await follower.heard(10)
            doomed.kill()
            (waited, events) = await asyncio.gather(here.send(name, "Anybody?"), follower.ended())
    dead = await here.turn(turn["id"])
    assert (dead["status"], dead["stopReason"]) == ("FAILED", "INTERRUPTED")
    assert (dead["error"]["code"], dead["error"]["retryable"]) == ("INTERNAL", True)
    assert dead["reply"]["state"] == "TRUNCATED"
    assert dead["reply"]["content"].startswith(follower.text[:10])
    assert (MIXED * 20).startswith(dead["reply"]["content"])
    assert events[-1]["turn"]["stopReason"] == "INTERRUPTED"
    assert waited["reply"]["content"] == "Here I am."
    assert model_server.refused == []
