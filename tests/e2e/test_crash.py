"""kill -9 in the middle of twenty turns."""

import asyncio
import contextlib
import itertools
from typing import Any, Final

import httpx
import pytest

from tests.e2e import documents
from tests.e2e.client import Client, Follower
from tests.e2e.conftest import OpenStore, Serve
from tests.e2e.replies import MIXED, asked, slow
from tests.e2e.waiting import until
from tests.model_server import ModelServer

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)

QUICK: Final = 5
SLOW: Final = 15
TEXT: Final = MIXED * 600
SETTINGS: Final = {
    "STELLO_LEASE_SECONDS": "8",
    "STELLO_RENEW_SECONDS": "0.5",
    "STELLO_FOLLOW_SECONDS": "0.5",
}


async def keep_writing(client: Client, name: str, stored: list[str]) -> None:
    """Creates sessions one after the other, and notes which were acknowledged, until nobody answers."""
    with contextlib.suppress(httpx.TransportError):
        for number in itertools.count():
            stored.append(await client.create(f"{name}-child-{number}", parentId=f"{name}-0"))
            await asyncio.sleep(0.02)


@pytest.mark.covers("W26", "W12")
async def test_nothing_acknowledged_is_lost(
    engine: str,
    serve: Serve,
    open_store: OpenStore,
    model_server: ModelServer,
    model_settings: dict[str, str],
    name: str,
) -> None:
    """Turns that were over are whole, open ones are closed with what was stored of them, all can go on.

    What the followers in the one process hear of turns in the other is what is stored at each renewal.
    """
    model_server.respond = lambda body: (
        slow(TEXT, pause=0.05) if asked(body).startswith("Slow") else f"Reply to {asked(body)}"
    )
    store, settings = open_store(engine), {**model_settings, **SETTINGS}
    doomed = [serve(store, settings=settings, ready=False) for _ in range(2)]
    for server in doomed:
        server.wait_ready()
    sessions = [f"{name}-{number}" for number in range(QUICK + SLOW)]
    written: list[str] = []
    async with doomed[0].client() as one, doomed[1].client() as other, contextlib.AsyncExitStack() as stack:
        await asyncio.gather(*(one.create(id) for id in sessions))
        await one.ask(documents.INSIGHT, id=sessions[-1], content="Remember the tea")
        started = await asyncio.gather(*(one.start(id, f"Slow {id}") for id in sessions[QUICK:]))
        followers = [await stack.enter_async_context(Follower(other, turn["id"])) for turn in started]
        completed = await asyncio.gather(*(other.send(id, f"Quick {id}") for id in sessions[:QUICK]))
        writer = asyncio.create_task(keep_writing(one, name, written))
        renewed = [len(await follower.heard(1)) for follower in followers]
        for follower, length in zip(followers, renewed, strict=True):
            await follower.heard(length + 1)
        await until(lambda: written, "something was written beside the turns")
        for server in doomed:
            server.kill()
        await writer

    model_server.respond = lambda body: f"Reply to {asked(body)}"
    async with serve(store, settings=settings).client() as client:
        closed = await asyncio.gather(*(ended(client, turn["id"]) for turn in started))
        for turn, follower in zip(closed, followers, strict=True):
            check_closed(turn, follower.text)
        for turn in completed:
            assert turn["status"] == "COMPLETED"
            assert await client.turn(turn["id"]) == turn
        children = (await client.ask(documents.CHILDREN, id=sessions[0]))["getChildren"]
        assert {node["id"] for node in children} >= set(written)
        await check_going_on(client, model_server, sessions, started + completed)


async def ended(client: Client, turn: str) -> Any:
    """A turn once it no longer runs."""

    async def look() -> Any:
        found = await client.turn(turn)
        return found if found["status"] != "RUNNING" else None

    return await until(look, f"turn {turn} is closed")


def check_closed(turn: Any, stored: str) -> None:
    """The user's message, and the text as of the last renewal."""
    assert (turn["status"], turn["stopReason"]) == ("FAILED", "INTERRUPTED")
    assert (turn["error"]["code"], turn["error"]["retryable"]) == ("INTERNAL", True)
    user, reply = turn["messages"]
    assert (user["role"], user["state"], user["content"]) == ("USER", "COMPLETE", f"Slow {turn['sessionId']}")
    assert (reply["role"], reply["state"]) == ("ASSISTANT", "TRUNCATED")
    assert TEXT.startswith(reply["content"])
    assert reply["content"].startswith(stored)


async def check_going_on(client: Client, model: ModelServer, sessions: list[str], turns: list[Any]) -> None:
    """Each transcript is whole, and the provider takes it; an insight that was not used up is still there."""
    assert (await client.session(sessions[-1]))["insight"]["content"] == "Remember the tea"
    asked_before = len(model.requests)
    again = await asyncio.gather(*(client.send(id, f"Next {id}") for id in sessions))
    assert {turn["status"] for turn in again} == {"COMPLETED"}
    assert model.refused == []
    assert sum("Remember the tea" in str(body) for body in model.requests[asked_before:]) == 1
    by_session = {turn["sessionId"]: turn["id"] for turn in turns}
    for id, turn in zip(sessions, again, strict=True):
        messages = await client.transcript(id)
        assert [one["seq"] for one in messages] == [1, 2, 3, 4]
        assert [one["role"] for one in messages] == ["USER", "ASSISTANT"] * 2
        assert [one["turnId"] for one in messages] == [by_session[id]] * 2 + [turn["id"]] * 2
    assert (await client.session(sessions[-1]))["insight"] is None
