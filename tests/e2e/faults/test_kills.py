"""kill -9 at random moments while sixteen clients write."""

import asyncio
import os
import random
from typing import Final

import pytest

from tests.conformance.databases import Database, Neo4jDatabase, SqliteDatabase
from tests.conformance.invariants import check_invariants
from tests.e2e.client import Client
from tests.e2e.conftest import OpenStore, Serve
from tests.e2e.faults.load import Load
from tests.e2e.processes import Server, Store
from tests.e2e.replies import asked, slow
from tests.engines import SQLITE, OpenServer
from tests.model_server import ModelServer

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)

# By hand: KILLS=100 scripts/test tests/e2e/faults/test_kills.py
KILLS: Final = int(os.environ.get("KILLS", "10"))
CLIENTS: Final = 16
SETTINGS: Final = {"STELLO_LEASE_SECONDS": "4", "STELLO_RENEW_SECONDS": "0.5"}


async def killing(load: Load, servers: list[Server], start: "Start") -> None:
    """Kills one of two servers at a random moment, again and again; another takes its place."""
    for number in range(KILLS):
        await asyncio.sleep(random.uniform(0.1, 1.0))
        killed = load.clients.pop(0)
        servers.pop(0).kill()
        await killed.http.aclose()
        fresh = await asyncio.to_thread(start.server)
        servers.append(fresh)
        load.clients.append(fresh.client())
        print(f"kill {number + 1}: {load.done} writes acknowledged so far, {dict(load.refusals)}")


class Start:
    """Starts servers on one store."""

    def __init__(self, serve: Serve, store: Store, settings: dict[str, str]) -> None:
        self._serve, self._store, self._settings = serve, store, settings

    def server(self) -> Server:
        """One that is ready."""
        return self._serve(self._store, settings=self._settings)


async def test_no_kill_loses_what_was_acknowledged(
    engine: str,
    serve: Serve,
    open_store: OpenStore,
    neo4j_server: OpenServer,
    model_server: ModelServer,
    model_settings: dict[str, str],
    name: str,
) -> None:
    """Nothing that was acknowledged is lost or doubled, no turn is half, and every conversation can go on.

    Who got no answer asks again with the same key, the other server, and gets the one result.
    """
    model_server.respond = lambda body: slow(f"Reply to {asked(body)}", pause=0.02, chunk=12)
    store = open_store(engine)
    start = Start(serve, store, {**model_settings, **SETTINGS})
    servers = [start.server(), start.server()]
    load = Load(name, CLIENTS)
    load.clients = [server.client() for server in servers]
    await load.prepare()
    writing = asyncio.create_task(load.run())
    await asyncio.wait(
        [writing, asyncio.create_task(killing(load, servers, start))], return_when=asyncio.FIRST_COMPLETED
    )
    load.stop()
    await writing

    async with load.clients[0] as client:
        await load.check(client)
        await check_going_on(client, load, model_server)
    await load.clients[1].http.aclose()
    for server in servers:
        server.close()
    database = database_of(engine, store, neo4j_server)
    check_invariants(database.snapshot("default"))
    database.close()


async def check_going_on(client: Client, load: Load, model: ModelServer) -> None:
    """The provider takes each conversation, however it was cut."""
    for writer in load.writers:
        assert (await client.send(writer.session, "And now?"))["status"] == "COMPLETED"
    assert model.refused == []


def database_of(engine: str, store: Store, neo4j_server: OpenServer) -> Database:
    """What is stored, seen behind the servers' backs."""
    if engine == SQLITE:
        return SqliteDatabase(store.path)
    return Neo4jDatabase(neo4j_server(engine))
