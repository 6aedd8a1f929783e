"""Who asks is told by keys, or by an application's own function, over HTTP and on WebSockets."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest
from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.requests import HTTPConnection

from stello_graph import KeyScope, Settings, StelloGraph, Viewer, create_app
from stello_graph.errors import StoreUnavailable
from stello_graph.llm.offline import OfflineLLM
from tests.e2e.waiting import until

ME: Final = "{ me { spaceId keyName scope } }"
ADA: Final = Viewer(space_id="default", key_name="Ada", scope=KeyScope.READ)

Open = Callable[..., Starlette]


@pytest.fixture
async def open_app(tmp_path: Path) -> AsyncIterator[Open]:
    """Makes apps that are open until the test ends."""
    opened: list[StelloGraph] = []

    def open_(bootstrap_key: str | None = None, **more: Any) -> Starlette:
        settings = Settings(
            store=f"sqlite:///{tmp_path / 'stello.db'}",
            grace=0,
            scheduler_seconds=3600,
            key_seconds=0.05,
            bootstrap_key=None if bootstrap_key is None else SecretStr(bootstrap_key),
        )
        app = create_app(settings, llm=OfflineLLM(delay=0), **more)
        opened.append(app.state.graph)
        return app

    yield open_
    for graph in opened:
        await graph.aclose()


async def ready(app: Starlette) -> StelloGraph:
    graph: StelloGraph = app.state.graph
    await graph.open()
    return graph


async def asked(app: Starlette, document: str = ME, **headers: str) -> tuple[int, Any]:
    """The status, and the data or the code of the first error."""
    transport = httpx.ASGITransport(app, client=("127.0.0.1", 50_000))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        answer = await client.post("/graphql", json={"query": document}, headers=headers)
    body = answer.json()
    return answer.status_code, body["errors"][0]["extensions"]["code"] if "errors" in body else body["data"]


class Socket:
    """A WebSocket without a network."""

    def __init__(self) -> None:
        self.sent: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self.heard: asyncio.Queue[Mapping[str, Any]] = asyncio.Queue()

    def say(self, **message: Any) -> None:
        self.sent.put_nowait({"type": "websocket.receive", "text": json.dumps(message)})

    async def hear(self) -> Any:
        """The next message, or the code with which the server closes."""
        async with asyncio.timeout(60):
            event = await self.heard.get()
        if event["type"] == "websocket.close":
            self.sent.put_nowait({"type": "websocket.disconnect", "code": event["code"]})
            return event["code"]
        return json.loads(event["text"])


@asynccontextmanager
async def socket_to(app: Starlette, payload: Mapping[str, Any] | None = None) -> AsyncIterator[Socket]:
    """An accepted socket that said connection_init."""
    socket = Socket()
    scope = {
        "type": "websocket",
        "path": "/graphql",
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 50_000),
        "subprotocols": ["graphql-transport-ws"],
        "query_string": b"",
        "scheme": "ws",
        "server": ("localhost", 80),
        "root_path": "",
        "extensions": {},
    }
    socket.sent.put_nowait({"type": "websocket.connect"})

    async def send(event: Any) -> None:
        socket.heard.put_nowait(event)

    running = asyncio.create_task(app(scope, socket.sent.get, send))
    try:
        assert (await socket.heard.get())["type"] == "websocket.accept"
        socket.say(type="connection_init", payload=dict(payload or {}))
        yield socket
    finally:
        socket.sent.put_nowait({"type": "websocket.disconnect", "code": 1000})
        async with asyncio.timeout(60):
            await running


async def test_a_function_over_http(open_app: Open) -> None:
    """It sees the connection, and says who asks: no key and no rule of the keyless mode counts."""

    def who(connection: HTTPConnection, payload: Mapping[str, Any]) -> Viewer | None:
        assert payload == {}
        return ADA if connection.headers.get("x-user") == "ada" else None

    app = open_app(authenticate=who)
    graph = await ready(app)
    key = await graph.create_key("default", "key", KeyScope.ADMIN)
    me = {"me": {"spaceId": "default", "keyName": "Ada", "scope": "READ"}}

    assert await asked(app, **{"X-User": "ada", "Host": "chat.example", "X-Forwarded-For": "192.0.2.1"}) == (
        200,
        me,
    )
    assert await asked(app, **{"X-User": "bob"}) == (401, "UNAUTHENTICATED")
    assert await asked(app, Authorization=f"Bearer {key.secret}") == (401, "UNAUTHENTICATED")
    assert await asked(app, 'mutation { deleteRecord(key: "k") }', **{"X-User": "ada"}) == (200, "FORBIDDEN")


async def test_a_coroutine_function_on_a_socket(open_app: Open) -> None:
    """It sees the payload, is asked again while the socket is open, and None then closes it."""
    valid = {"token"}

    async def who(_: HTTPConnection, payload: Mapping[str, Any]) -> Viewer | None:
        await asyncio.sleep(0)
        return ADA if payload.get("ticket") in valid else None

    app = open_app(authenticate=who)
    await ready(app)

    async with socket_to(app, {"ticket": "forged"}) as socket:
        assert await socket.hear() == 4403
    async with socket_to(app, {"ticket": "token"}) as socket:
        assert (await socket.hear())["type"] == "connection_ack"
        socket.say(type="subscribe", id="1", payload={"query": ME})
        assert (await socket.hear())["payload"]["data"]["me"]["keyName"] == "Ada"
        assert (await socket.hear())["type"] == "complete"
        socket.say(type="subscribe", id="2", payload={"query": "subscription { topologyEvents { seq } }"})
        valid.clear()
        assert await socket.hear() == 4403


@pytest.mark.parametrize(
    "told",
    [
        "ada",
        Viewer(space_id=None, scope=KeyScope.ADMIN),
        Viewer(space_id="default", scope=KeyScope.OPERATOR),
        RuntimeError("secret-detail"),
    ],
    ids=["no viewer", "no space", "operator with a space", "raises"],
)
async def test_a_function_with_a_fault(open_app: Open, told: Any) -> None:
    """Nobody is let in, and nothing of the fault is told."""

    def who(*_: Any) -> Any:
        if isinstance(told, Exception):
            raise told
        return told

    app = open_app(authenticate=who)
    await ready(app)

    assert await asked(app) == (200, "INTERNAL")
    async with socket_to(app) as socket:
        assert await socket.hear() == 1011


async def test_a_space_that_is_none(open_app: Open) -> None:
    """A viewer of a Space that was never made finds nothing and can make nothing."""
    app = open_app(authenticate=lambda *_: Viewer(space_id="never-made", scope=KeyScope.ADMIN))
    await ready(app)

    assert await asked(app, "{ space { id } }") == (200, "NOT_FOUND")
    assert await asked(app, 'mutation { createSession(input: {label: "x"}) { id } }') == (200, "NOT_FOUND")


async def test_a_socket_outlives_no_revoked_key(open_app: Open) -> None:
    """Nothing runs before the key, and what runs by it ends with it."""
    app = open_app()
    graph = await ready(app)
    made = await graph.create_key("default", "key", KeyScope.READ)

    async with socket_to(app) as socket:
        assert await socket.hear() == 4403
    async with socket_to(app, {"Authorization": f"Bearer {made.secret}"}) as socket:
        assert (await socket.hear())["type"] == "connection_ack"
        await graph.revoke_key("default", made.key.id)
        assert await socket.hear() == 4403


async def test_an_event_stream_ends_with_its_key(open_app: Open) -> None:
    """Over HTTP too: the stream ends, without saying that it is complete, and a new one is refused."""
    app = open_app()
    graph = await ready(app)
    made = await graph.create_key("default", "key", KeyScope.READ)
    headers = {"Accept": "text/event-stream", "Authorization": f"Bearer {made.secret}"}
    body = {"query": "subscription { topologyEvents { seq } }"}

    async def used() -> bool:
        return (await graph.keys("default"))[0].last_used_at is not None

    transport = httpx.ASGITransport(app)
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
        following = asyncio.create_task(client.post("/graphql", json=body, headers=headers))
        await until(used, "the key is used")
        await graph.revoke_key("default", made.key.id)
        async with asyncio.timeout(60):
            ended = await following
        again = await client.post("/graphql", json=body, headers=headers)

    assert (ended.status_code, again.status_code) == (200, 401)
    assert ended.headers["content-type"].startswith("text/event-stream")
    assert "complete" not in ended.text


async def test_a_subscription_before_connection_init(open_app: Open) -> None:
    """A socket that does not say who it is is closed with 4401."""
    app = open_app()
    await ready(app)
    async with socket_to(app) as socket:
        socket.sent.get_nowait()
        socket.say(type="subscribe", id="1", payload={"query": ME})
        assert await socket.hear() == 4401


async def test_while_the_store_is_away(open_app: Open, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can be told: 503, and 1013 on a socket. An open one stays."""
    app = open_app()
    graph = await ready(app)
    made = await graph.create_key("default", "key", KeyScope.READ)
    credentials = {"Authorization": f"Bearer {made.secret}"}

    async def away(*_: Any) -> Any:
        raise StoreUnavailable("the store is away")

    async with socket_to(app, credentials) as kept:
        assert (await kept.hear())["type"] == "connection_ack"
        with monkeypatch.context() as patch:
            patch.setattr(graph.store, "find_keys", away)
            graph.keyring.forget()
            assert await asked(app, **credentials) == (503, "STORE_UNAVAILABLE")
            async with socket_to(app, credentials) as socket:
                assert await socket.hear() == 1013
        kept.say(type="subscribe", id="1", payload={"query": ME})
        assert (await kept.hear())["payload"]["data"]["me"]["scope"] == "READ"


async def test_metrics_are_for_operators(open_app: Open) -> None:
    """Without keys for this machine, then for an OPERATOR's key alone."""
    app = open_app()
    graph = await ready(app)

    async def status(**headers: str) -> int:
        transport = httpx.ASGITransport(app, client=("127.0.0.1", 50_000))
        async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
            return (await client.get("/metrics", headers=headers)).status_code

    assert await status() == 200
    assert await status(**{"X-Forwarded-For": "192.0.2.1"}) == 403
    admin = await graph.create_key("default", "admin", KeyScope.ADMIN)
    operator = await graph.create_key(None, "operator", KeyScope.OPERATOR)
    assert await status() == 401
    assert await status(Authorization=f"Bearer {admin.secret}") == 403
    assert await status(Authorization=f"Bearer {operator.secret}") == 200


async def test_a_bootstrap_key_counts_for_ever(open_app: Open) -> None:
    """A store that was served with one does not open when the next start is without."""
    key = "a-key-of-thirty-two-characters-and-more"
    first = open_app(bootstrap_key=key)
    await ready(first)
    assert (await asked(first, Authorization=f"Bearer {key}"))[0] == 200
    assert await asked(first) == (401, "UNAUTHENTICATED")

    second = open_app()
    await ready(second)

    assert await asked(second) == (401, "UNAUTHENTICATED")
    assert await asked(second, Authorization=f"Bearer {key}") == (401, "UNAUTHENTICATED")
