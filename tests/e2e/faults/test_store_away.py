"""The graph database goes away under load, and comes back."""

import asyncio
from typing import Any, Final

import httpx
from neo4j import GraphDatabase

from tests.conformance.databases import Neo4jDatabase
from tests.conformance.invariants import check_invariants
from tests.e2e.conftest import Serve
from tests.e2e.faults.load import Load
from tests.e2e.faults.test_kills import check_going_on
from tests.e2e.processes import Store
from tests.e2e.replies import asked, slow
from tests.e2e.waiting import until
from tests.engines import OpenServer
from tests.model_server import ModelServer
from tests.neo4j_server import Server, credentials

CLIENTS: Final = 8
POOL: Final = 50
# A turn whose lease runs out while the store is away ends INTERRUPTED; here all are to outlive it.
SETTINGS: Final = {"STELLO_LEASE_SECONDS": "300", "STELLO_RENEW_SECONDS": "0.5"}


async def test_a_store_that_comes_back_is_used_again(
    serve: Serve,
    own_neo4j: OpenServer,
    model_server: ModelServer,
    model_settings: dict[str, str],
    name: str,
) -> None:
    """STORE_UNAVAILABLE and nothing else meanwhile; then all goes on by itself, and no connection is lost."""
    model_server.respond = lambda body: slow(f"Reply to {asked(body)}", pause=0.02, chunk=12)
    neo4j = own_neo4j("neo4j")
    store = Store(neo4j.url, credentials(neo4j))
    server = serve(store, settings={**model_settings, **SETTINGS})
    load = Load(name, CLIENTS)
    async with server.client() as client:
        load.clients = [client]
        await load.prepare()
        writing = asyncio.create_task(load.run())
        await until(lambda: load.done > CLIENTS or writing.done(), "all are at work", seconds=120)

        await asyncio.to_thread(neo4j.stop)
        await until(lambda: load.refusals["STORE_UNAVAILABLE"] > 3 or writing.done(), "writes are refused")
        assert (await ready(client.http)).status_code == 503
        assert (await client.http.get("/healthz")).status_code == 200

        await asyncio.to_thread(neo4j.start)
        await until(lambda: is_ready(client.http), "the store is used again", seconds=120)
        before = load.done
        await until(lambda: load.done > before + CLIENTS or writing.done(), "writes go on", seconds=120)
        load.stop()
        await writing

        assert set(load.refusals) == {"STORE_UNAVAILABLE"}
        assert set(load.statuses) <= {200, 503}
        await load.check(client)
        await check_going_on(client, load, model_server)
        await asyncio.gather(*(client.transcript(load.root) for _ in range(2 * POOL)))
        assert connections(neo4j) <= POOL
    database = Neo4jDatabase(neo4j)
    check_invariants(database.snapshot("default"))
    database.close()


async def ready(http: httpx.AsyncClient) -> httpx.Response:
    return await http.get("/readyz")


async def is_ready(http: httpx.AsyncClient) -> bool:
    return (await ready(http)).status_code == 200


def connections(neo4j: Server) -> int:
    """How many the service has open, as the database sees it."""
    auth: Any = None if neo4j.user is None else (neo4j.user, neo4j.password)
    with GraphDatabase.driver(neo4j.url, auth=auth) as driver:
        text = (
            "CALL dbms.listConnections() YIELD userAgent "
            "WHERE userAgent STARTS WITH 'stello-graph' RETURN count(*)"
        )
        count: int = driver.execute_query(text).records[0][0]
    return count
