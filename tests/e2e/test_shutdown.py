"""SIGTERM: what runs is given its time, then cut legally; the exit code is 0."""

import asyncio
import time
from urllib.parse import urlsplit

import pytest

from tests.e2e.client import Client, Follower
from tests.e2e.conftest import Serve
from tests.e2e.processes import Store
from tests.e2e.replies import MIXED, slow
from tests.e2e.test_turns import held
from tests.e2e.waiting import until
from tests.model_server import ModelServer

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)


async def test_a_running_turn_within_grace_completes(
    there: Client,
    serve: Serve,
    shared_store: Store,
    model_server: ModelServer,
    model_settings: dict[str, str],
    name: str,
) -> None:
    """The reply is stored whole, and who waits for it over HTTP gets it."""
    answer, gate = held("Said before the end.", 2)
    model_server.script(answer)
    server = serve(shared_store, "--grace", "60", settings=model_settings)
    await there.create(name)
    async with server.client() as client:
        sending = asyncio.create_task(client.send(name, "Hello"))
        await until(answer.reached.is_set, "the model was asked")
        server.terminate()
        await until(lambda: refuses_connections(client), "no new connections are taken")
        gate.set()
        turn = await sending
    assert await asyncio.to_thread(server.wait) == 0
    assert (turn["status"], turn["reply"]["content"]) == ("COMPLETED", "Said before the end.")
    assert await there.turn(turn["id"]) == turn


async def refuses_connections(client: Client) -> bool:
    """Whether the server no longer listens."""
    url = urlsplit(client.url)
    try:
        _, writer = await asyncio.open_connection(url.hostname, url.port)
    except OSError:
        return True
    writer.close()
    return False


async def test_turns_beyond_grace_are_cut_legally(
    there: Client,
    serve: Serve,
    shared_store: Store,
    model_server: ModelServer,
    model_settings: dict[str, str],
    name: str,
) -> None:
    """INTERRUPTED, all that was said kept, within the grace period and not twice of it; the next is legal."""
    grace = 4.0
    started, sent, silent = (f"{name}-{kind}" for kind in ("started", "sent", "silent"))
    endless = {
        "Started": slow(MIXED * 200, pause=0.02),
        "Sent": slow(MIXED * 200, pause=0.02),
        "Silent": held("Never said", 0)[0],
    }
    model_server.respond = lambda body: endless.get(body["messages"][-1]["content"][-1]["text"], "Go on.")
    server = serve(shared_store, "--grace", str(grace), settings=model_settings)
    for id in (started, sent, silent):
        await there.create(id)
    async with server.client() as client:
        sending = asyncio.create_task(client.send(sent, "Sent"))
        turns = [await client.start(started, "Started"), await client.start(silent, "Silent")]
        async with Follower(client, turns[0]["id"]) as follower:
            await follower.heard(50)
            heard = follower.text
            began = time.monotonic()
            server.terminate()
            assert await asyncio.to_thread(server.wait) == 0
            took = time.monotonic() - began
        await asyncio.gather(sending, return_exceptions=True)
    assert grace <= took < 2 * grace, took
    for id, question in ((started, "Started"), (sent, "Sent"), (silent, "Silent")):
        (turn,) = (await there.session(id))["turns"]
        assert (turn["status"], turn["stopReason"]) == ("FAILED", "INTERRUPTED"), question
        assert turn["error"]["retryable"] is True
        if id == silent:
            assert turn["reply"] is None
        else:
            assert turn["reply"]["state"] == "TRUNCATED"
            assert (MIXED * 200).startswith(turn["reply"]["content"])
            assert len(turn["reply"]["content"]) >= len(heard)
        assert (await there.send(id, "Again"))["status"] == "COMPLETED"
    assert model_server.refused == []


async def test_an_idle_server_ends_at_once(
    serve: Serve, shared_store: Store, model_settings: dict[str, str], name: str
) -> None:
    """Whatever connections are open: kept alive, a socket that is idle, one that never said hello."""
    server = serve(shared_store, "--grace", "60", settings=model_settings)
    async with server.client() as client, client.socket(), client.connection():
        await client.create(name)
        began = time.monotonic()
        server.terminate()
        assert await asyncio.to_thread(server.wait) == 0
        assert time.monotonic() - began < 15
