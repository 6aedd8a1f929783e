"""Clients that go away in the middle of what they asked for."""

import asyncio
import contextlib
import random
from typing import Final

import httpx
import psutil
import pytest

from tests.e2e.client import Client, Follower
from tests.e2e.conftest import OpenStore, Serve
from tests.e2e.replies import MIXED, asked, slow
from tests.e2e.waiting import until
from tests.model_server import ModelServer

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)

SESSIONS: Final = 10
VANISHING: Final = 60


async def test_who_vanishes_breaks_nothing_and_leaves_nothing_open(
    engine: str,
    serve: Serve,
    open_store: OpenStore,
    model_server: ModelServer,
    model_settings: dict[str, str],
    name: str,
) -> None:
    """Turns go on without those who asked for them or followed them; no connection stays."""
    model_server.respond = lambda body: slow(f"{asked(body)}: {MIXED * 2}", pause=0.02, chunk=4)
    server = serve(open_store(engine), settings=model_settings)
    process = psutil.Process(server.process.pid)
    sessions = [f"{name}-{number}" for number in range(SESSIONS)]
    async with server.client() as client:
        await asyncio.gather(*(client.create(id) for id in sessions))
        await asyncio.gather(*(client.send(id, "Warm up") for id in sessions))
        before = clients_of(process)

        turns = await asyncio.gather(*(client.start(id, "Go on") for id in sessions))
        chance = random.Random(1)
        await asyncio.gather(
            *(vanish(server.client(), sessions, turns[n % SESSIONS]["id"], chance) for n in range(VANISHING))
        )
        events = await asyncio.gather(*(client.events(turn["id"]) for turn in turns))
        assert {one[-1]["turn"]["status"] for one in events} == {"COMPLETED"}

        async def all_done() -> bool:
            # Who vanished may have left a request that begins only now: both are read at one moment.
            found = await asyncio.gather(*(client.session(id) for id in sessions))
            told = {turn["status"] for one in found for turn in one["turns"]}
            assert told <= {"COMPLETED", "RUNNING"}
            return told == {"COMPLETED"} and all(one["activeTurn"] is None for one in found)

        await until(all_done, "all turns are completed, and none runs any more", seconds=120)
        await until(lambda: clients_of(process) <= before, "connections of who went away are closed")
    assert model_server.refused == []


def clients_of(process: psutil.Process) -> int:
    """How many connections were made to a server, not by it, and are open."""
    found = process.net_connections("tcp")
    ports = {one.laddr.port for one in found if one.status == psutil.CONN_LISTEN}
    return sum(one.laddr.port in ports for one in found if one.status != psutil.CONN_LISTEN)


async def vanish(client: Client, sessions: list[str], turn: str, chance: random.Random) -> None:
    """Goes away at a random moment: from a turn that it sent, one that it follows, or in a request's body."""
    moment = chance.uniform(0.0, 0.4)
    way = chance.choice(("send", "follow", "body"))
    if way == "send":
        with contextlib.suppress(TimeoutError, httpx.TransportError):
            async with asyncio.timeout(moment):
                await client.send(chance.choice(sessions), "Who cares?")
    elif way == "follow":
        async with Follower(client, turn):
            await asyncio.sleep(moment)
    else:
        await half_a_request(client.url, moment)
    await client.http.aclose()


async def half_a_request(url: str, moment: float) -> None:
    """Sends less of a body than was announced, and goes."""
    host, _, port = url.removeprefix("http://").partition(":")
    _, writer = await asyncio.open_connection(host, int(port))
    writer.write(
        f"POST /graphql HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
        f'Content-Length: 1000\r\n\r\n{{"query": "'.encode()
    )
    await asyncio.sleep(moment)
    writer.transport.abort()
