"""The whole app inside another one, under a prefix, with its lifespan or without."""

import asyncio
import re
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.routing import Mount

from stello_graph import Settings, create_app
from stello_graph.errors import StoreUnavailable
from stello_graph.llm.scripted import Pause, ScriptedLLM
from stello_graph.model.turn import StopReason, TurnStatus
from stello_graph.store.sqlite import SqliteEngine
from stello_graph.store.store import GraphStore
from tests.unit.http.sockets import socket

CREATE = "mutation ($id: ID!) { createSession(input: {id: $id}) { id } }"
START = 'mutation { startTurn(input: {sessionId: "a", content: "Hello"}) { id } }'
SESSIONS = "{ sessions { nodes { id } } }"


class CountedEngine(SqliteEngine):
    """Counts how often it is opened and closed; is away at first where a test says so."""

    def __init__(self, folder: Path, *, away: int = 0) -> None:
        super().__init__(folder / "stello.db")
        self.opened = self.closed = 0
        self.away = away
        self.opening = asyncio.Event()

    async def migrate(self) -> list[str]:
        self.opened += 1
        self.opening.set()
        await asyncio.sleep(0)
        if self.away:
            self.away -= 1
            raise StoreUnavailable("the store is away")
        return await super().migrate()

    async def aclose(self) -> None:
        self.closed += 1
        await super().aclose()


def app_over(engine: CountedEngine, llm: ScriptedLLM | None = None) -> Starlette:
    settings = Settings(grace=0, scheduler_seconds=3600, janitor_seconds=3600)
    return create_app(settings, store=GraphStore(engine), llm=llm or ScriptedLLM(default="done"))


@asynccontextmanager
async def client_of(app: Any) -> AsyncIterator[httpx.AsyncClient]:
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 50_000))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        yield client


async def ask(client: httpx.AsyncClient, path: str, document: str, **variables: Any) -> Any:
    """The data, or the code of the first error."""
    answer = await client.post(path, json={"query": document, "variables": variables})
    body = answer.json()
    assert answer.status_code == (503 if "errors" in body else 200), body
    return body["errors"][0]["extensions"]["code"] if "errors" in body else body["data"]


async def sessions(client: httpx.AsyncClient, path: str) -> list[str]:
    return [node["id"] for node in (await ask(client, path, SESSIONS))["sessions"]["nodes"]]


@pytest.mark.covers("TC22")
async def test_first_requests_open_the_store_once(tmp_path: Path) -> None:
    """Many at the same time, in a host that runs no lifespan; one that goes away ends nothing for others."""
    engine = CountedEngine(tmp_path)
    service = app_over(engine)
    async with client_of(Starlette(routes=[Mount("/ai", service)])) as client:
        assert (await client.get("/ai/healthz")).status_code == 200
        assert engine.opened == 0
        gone = asyncio.create_task(ask(client, "/ai/graphql", SESSIONS))
        rest = [asyncio.create_task(ask(client, "/ai/graphql", CREATE, id=f"s{n}")) for n in range(10)]
        await engine.opening.wait()
        gone.cancel()
        assert all(isinstance(answer, dict) for answer in await asyncio.gather(*rest))
        assert (await client.get("/ai/readyz")).status_code == 200
        assert len(await sessions(client, "/ai/graphql")) == 10
        assert (engine.opened, engine.closed) == (1, 0)

        await service.state.graph.aclose()
        assert engine.closed == 1
        assert await ask(client, "/ai/graphql", SESSIONS) == "STORE_UNAVAILABLE"
        assert (await client.get("/ai/readyz")).status_code == 503
        assert engine.opened == 1


@pytest.mark.covers("TC22")
def test_the_end_of_the_event_loop_closes_the_store(tmp_path: Path) -> None:
    """Where nobody else did; what still runs is cut legally, before."""
    engine, pause = CountedEngine(tmp_path), Pause()
    service = app_over(engine, ScriptedLLM([["Begun", pause]]))

    async def visit() -> None:
        async with client_of(Starlette(routes=[Mount("/ai", service)])) as client:
            await ask(client, "/ai/graphql", CREATE, id="a")
            await ask(client, "/ai/graphql", START)
            await pause.reached.wait()

    async def look() -> list[tuple[str, str | None]]:
        async with app_over(CountedEngine(tmp_path)).state.graph as graph:
            turns = await graph.space().store.turns_of(["a"], before=2**53, first=9)
            return [(turn.status, turn.stop_reason) for turn in turns["a"]]

    asyncio.run(visit())
    assert (engine.opened, engine.closed) == (1, 1)
    assert not (tmp_path / "stello.db-wal").exists()
    assert asyncio.run(look()) == [(TurnStatus.FAILED, StopReason.INTERRUPTED)]


async def test_a_store_that_comes_late(tmp_path: Path) -> None:
    """The first request is refused, to be tried again; the next one opens it."""
    engine = CountedEngine(tmp_path, away=2)
    service = app_over(engine)
    async with client_of(Starlette(routes=[Mount("/ai", service)])) as client:
        assert await ask(client, "/ai/graphql", SESSIONS) == "STORE_UNAVAILABLE"
        assert (await client.get("/ai/readyz")).status_code == 503
        assert await sessions(client, "/ai/graphql") == []
    assert (engine.opened, engine.closed) == (3, 0)
    await service.state.graph.aclose()


@pytest.mark.covers("TC22")
async def test_a_composed_lifespan(tmp_path: Path) -> None:
    """It opens before the first request, and closes once."""
    engine = CountedEngine(tmp_path)
    service = app_over(engine)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncIterator[None]:
        async with service.router.lifespan_context(service):
            yield

    host = Starlette(routes=[Mount("/ai", service)], lifespan=lifespan)
    async with host.router.lifespan_context(host), client_of(host) as client:
        assert engine.opened == 1
        assert await sessions(client, "/ai/graphql") == []
    assert (engine.opened, engine.closed) == (1, 1)


@pytest.mark.covers("TC22")
async def test_two_mounts(tmp_path: Path) -> None:
    """Each has a store of its own."""
    paths = ("one", "two")
    for path in paths:
        (tmp_path / path).mkdir()
    engines = [CountedEngine(tmp_path / path) for path in paths]
    services = [app_over(engine) for engine in engines]
    host = Starlette(routes=[Mount(f"/{path}", app) for path, app in zip(paths, services, strict=True)])
    async with AsyncExitStack() as stack, client_of(host) as client:
        for service in services:
            stack.push_async_callback(service.state.graph.aclose)
        for path in paths:
            await ask(client, f"/{path}/graphql", CREATE, id=path)
        for path in paths:
            assert await sessions(client, f"/{path}/graphql") == [path]
    assert [(engine.opened, engine.closed) for engine in engines] == [(1, 1), (1, 1)]


@pytest.mark.covers("TC22")
async def test_every_address_carries_the_prefix(tmp_path: Path) -> None:
    """Pages, files and sockets; without its slash the prefix leads to the page."""
    service = app_over(CountedEngine(tmp_path))
    host = Starlette(routes=[Mount("/deep/ai", service)])
    async with client_of(host) as client:
        bare = await client.get("/deep/ai")
        assert (bare.status_code, bare.headers["location"]) == (307, "http://localhost/deep/ai/")
        for path, accept in (("/deep/ai/", "*/*"), ("/deep/ai/graphql", "text/html")):
            page = await client.get(path, headers={"accept": accept})
            assert page.status_code == 200
            for address in linked(page.text):
                found = await client.get(str(page.url.join(address)), headers={"accept": "text/html"})
                assert found.status_code == 200, address
    async with socket(host, path="/deep/ai/graphql") as client_socket:
        client_socket.subscribe("1", SESSIONS)
        await client_socket.over("1")
        assert client_socket.told[-1]["type"] == "complete"
    await service.state.graph.aclose()


def linked(page: str) -> list[str]:
    """What a page loads; none of it stands at the root of the host."""
    found = re.findall(r'(?:src|href)="([^"#]+)"', page)
    assert found
    assert not [address for address in found if address.startswith("/") or "://" in address]
    return found


@pytest.mark.parametrize("prefix", ["", "/ai"])
async def test_a_slash_at_the_end_redirects_no_request(prefix: str, tmp_path: Path) -> None:
    """What is sent there is answered there; a browser is led to the page, whose addresses are relative."""
    service = app_over(CountedEngine(tmp_path))
    host = Starlette(routes=[Mount(prefix, service)])
    async with client_of(host) as client:
        assert await sessions(client, f"{prefix}/graphql/") == []
        assert (
            await client.post(f"{prefix}/import/", headers={"content-type": "application/json"})
        ).status_code == 400
        page = await client.get(f"{prefix}/graphql/", headers={"accept": "text/html"}, follow_redirects=True)
        assert (page.status_code, page.url.path) == (200, f"{prefix}/graphql")
    async with socket(host, path=f"{prefix}/graphql/") as client_socket:
        client_socket.subscribe("1", SESSIONS)
        await client_socket.over("1")
        assert client_socket.told[-1]["type"] == "complete"
    await service.state.graph.aclose()
