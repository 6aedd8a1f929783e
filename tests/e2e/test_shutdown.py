"""SIGTERM: what runs is given its time, then cut legally; the exit code is 0."""

import asyncio
import time
from contextlib import AsyncExitStack
from datetime import datetime
from typing import Final
from urllib.parse import urlsplit

import pytest

from tests.e2e.client import Client, Follower
from tests.e2e.conftest import Serve
from tests.e2e.processes import Store
from tests.e2e.replies import MIXED, by_question, slow
from tests.e2e.test_turns import held
from tests.e2e.waiting import until
from tests.model_server import ModelServer

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)

GRACE: Final = 5.0


async def test_running_turns_are_given_their_time(
    there: Client,
    serve: Serve,
    shared_store: Store,
    model_server: ModelServer,
    model_settings: dict[str, str],
    name: str,
) -> None:
    """Within the grace period a turn completes; at its end the others are cut with all that they had said.

    Whoever waits for one over HTTP is told of either end.
    """
    whole, gate = held("Said before the end.", 2)
    silent, _ = held("Never said.", 0)
    endless = slow(MIXED * 1_000, pause=0.02)
    model_server.respond = by_question({"Whole": whole, "Silent": silent, "Endless": endless})
    server = serve(shared_store, "--grace", str(GRACE), settings=model_settings)
    for kind in ("Whole", "Silent", "Endless"):
        await there.create(f"{name}-{kind}")
    async with server.client() as client:
        completing = asyncio.create_task(client.send(f"{name}-Whole", "Whole"))
        failing = asyncio.create_task(client.send(f"{name}-Endless", "Endless"))
        started = await client.start(f"{name}-Silent", "Silent")
        for answer in (whole, silent):
            await until(answer.reached.is_set, "the model was asked")
        heard = await heard_of(there, f"{name}-Endless")
        server.terminate()
        at = time.time()
        await until(lambda: refuses_connections(client), "no new connections are taken")
        gate.set()
        completed, cut = await asyncio.gather(completing, failing)
    assert await asyncio.to_thread(server.wait) == 0

    assert (completed["status"], completed["reply"]["content"]) == ("COMPLETED", "Said before the end.")
    assert cut["reply"]["state"] == "TRUNCATED"
    assert (MIXED * 1_000).startswith(cut["reply"]["content"])
    assert cut["reply"]["content"].startswith(heard)
    silenced = await there.turn(started["id"])
    assert silenced["reply"] is None
    for turn in (cut, silenced):
        assert (turn["status"], turn["stopReason"]) == ("FAILED", "INTERRUPTED")
        assert turn["error"]["retryable"] is True
        assert GRACE <= datetime.fromisoformat(turn["endedAt"]).timestamp() - at < 2 * GRACE
    for turn in (completed, cut, silenced):
        assert await there.turn(turn["id"]) == turn
        assert (await there.send(turn["sessionId"], "Again"))["status"] == "COMPLETED"
    assert model_server.refused == []


async def heard_of(client: Client, session: str) -> str:
    """Some text of a session's running turn, as another process has it."""

    async def turn() -> str:
        active = (await client.session(session))["activeTurn"]
        return active["id"] if active else ""

    async with Follower(client, await until(turn, "the turn began")) as follower:
        return await follower.heard(50)


async def refuses_connections(client: Client) -> bool:
    """Whether the server no longer listens."""
    url = urlsplit(client.url)
    try:
        _, writer = await asyncio.open_connection(url.hostname, url.port)
    except OSError:
        return True
    writer.close()
    return False


async def test_an_idle_server_ends_at_once(serve: Serve, shared_store: Store, name: str) -> None:
    """Whatever connections are open: kept alive, a socket that is idle, one that never said hello."""
    server = serve(shared_store, "--grace", "60")
    async with server.client() as client, client.socket(), client.connection():
        await client.create(name)
        began = time.monotonic()
        server.terminate()
        assert await asyncio.to_thread(server.wait) == 0
        assert time.monotonic() - began < 15


async def test_an_open_event_stream_ends(
    serve: Serve,
    shared_store: Store,
    model_server: ModelServer,
    model_settings: dict[str, str],
    name: str,
) -> None:
    """One of the map, which has no end, keeps nobody; one of a turn is told of the turn's end."""
    model_server.respond = by_question({"Endless": slow(MIXED * 1_000, pause=0.02)})
    server = serve(shared_store, "--grace", "1", settings=model_settings)
    documents = (
        "subscription { topologyEvents { seq } }",
        'subscription { turnEvents(turnId: "%s") { __typename } }',
    )
    async with server.client() as client, AsyncExitStack() as stack:
        await client.create(name)
        turn = await client.start(name, "Endless")
        streams = []
        for document in documents:
            answer = await stack.enter_async_context(
                client.http.stream(
                    "POST",
                    "/graphql",
                    json={"query": document.replace("%s", turn["id"])},
                    headers={"Accept": "text/event-stream"},
                )
            )
            streams.append(answer.aiter_text())
            assert await anext(streams[-1])
        server.terminate()
        assert "TurnEnded" in "".join([part async for part in streams[1]])
        assert await asyncio.to_thread(server.wait) == 0
