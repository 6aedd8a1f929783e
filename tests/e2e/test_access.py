"""Who is let in: without a key this machine alone, with one whoever has it."""

import socket
from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from typing import Any, Final

import pytest
from websockets.exceptions import ConnectionClosed, InvalidStatus

from tests.e2e.client import PROTOCOL, Client, Socket
from tests.e2e.conftest import sqlite_store
from tests.e2e.processes import Server, run, start

KEY: Final = "a-key-of-thirty-two-characters-and-more"
ORIGIN: Final = "https://front.example"
ME: Final = "{ me { spaceId keyName scope } }"


@pytest.fixture(scope="module")
def servers(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Server, Server]]:
    """One without a key that listens everywhere, one with a key and a front-end elsewhere."""
    folder = tmp_path_factory.mktemp("access")
    origins = {"STELLO_ALLOWED_ORIGINS": f"{ORIGIN}, http://localhost:3000"}
    keys = {"STELLO_BOOTSTRAP_KEY": KEY, **origins}
    with ExitStack() as stack:
        found = [
            start(sqlite_store(folder), folder / "keyless.log", "--host", "0.0.0.0", settings=origins),
            start(sqlite_store(tmp_path_factory.mktemp("keys")), folder / "keyed.log", settings=keys),
        ]
        for server in found:
            stack.callback(server.close)
        for server in found:
            server.wait_ready()
        yield found[0], found[1]


@pytest.fixture
def keyless(servers: tuple[Server, Server]) -> Server:
    """It asks for no key."""
    return servers[0]


@pytest.fixture
def keyed(servers: tuple[Server, Server]) -> Server:
    """It asks for `KEY`."""
    return servers[1]


def own_address() -> str | None:
    """An address of this machine that is not loopback; nothing is sent."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        try:
            probe.connect(("192.0.2.1", 9))
        except OSError:
            return None
        address: str = probe.getsockname()[0]
        return None if address.startswith(("127.", "0.")) else address


async def asked(client: Client, headers: Mapping[str, str] | None = None) -> tuple[int, Any]:
    """The status and the first error's code, or the data."""
    answer = await client.http.post("/graphql", json={"query": ME}, headers=headers)
    body = answer.json()
    return answer.status_code, body["errors"][0]["extensions"]["code"] if "errors" in body else body["data"]


async def socket_answer(
    client: Client, headers: Mapping[str, str] | None = None, payload: Any = None, origin: str | None = None
) -> Any:
    """The type of the first frame, or the status of a refused handshake, or the code of the close."""
    try:
        async with client.connection(headers=headers, origin=origin) as connection:
            opened = Socket(connection)
            await opened.say({"type": "connection_init", **({} if payload is None else {"payload": payload})})
            return (await opened.hear())["type"]
    except InvalidStatus as refused:
        return refused.response.status_code
    except ConnectionClosed as closed:
        return closed.rcvd.code if closed.rcvd else None


async def test_without_a_key_this_machine_is_admin(keyless: Server) -> None:
    """Loopback peers with loopback Host names are ADMIN of the Space default."""
    me = {"spaceId": "default", "keyName": None, "scope": "ADMIN"}
    async with keyless.client() as client:
        assert await asked(client) == (200, {"me": me})
        for host in ("localhost", "LOCALHOST:80", "127.0.0.1", "127.9.9.9:1", "[::1]:8000", "localhost."):
            assert await asked(client, {"Host": host}) == (200, {"me": me}), host
        assert await asked(client, {"Authorization": "Bearer whatever"}) == (200, {"me": me})
        assert await socket_answer(client) == "connection_ack"


async def test_without_a_key_other_addresses_are_refused(keyless: Server) -> None:
    """Whatever Host they name: the peer's address counts."""
    address = own_address()
    if address is None:
        pytest.skip("this machine has no address but loopback")
    async with Client(keyless.url.replace("127.0.0.1", address)) as client:
        assert await asked(client) == (403, "FORBIDDEN")
        assert await asked(client, {"Host": "localhost"}) == (403, "FORBIDDEN")
        assert await socket_answer(client) == 403


@pytest.mark.covers("TC23")
@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "evil.example:8000"},
        {"Host": "localhost.evil.example"},
        {"Host": "127.0.0.1.evil.example"},
        {"Host": "0.0.0.0"},
        {"Host": "[::ffff:192.0.2.1]"},
        {"Host": ""},
        {"X-Forwarded-For": "127.0.0.1"},
        {"X-Forwarded-Host": "localhost"},
        {"X-Forwarded-Proto": "https"},
        {"Forwarded": "for=127.0.0.1"},
        {"X-Real-IP": "127.0.0.1"},
        {"Via": "1.1 proxy"},
        {"Origin": "https://evil.example"},
        {"Origin": "http://localhost:1"},
        {"Origin": "null"},
    ],
    ids=str,
)
async def test_without_a_key_what_is_not_of_here_is_refused(keyless: Server, headers: dict[str, str]) -> None:
    """Foreign Host names (DNS rebinding), forwarded requests, pages of other origins: HTTP and WebSocket."""
    async with keyless.client() as client:
        assert await asked(client, headers) == (403, "FORBIDDEN")
        if "Host" not in headers:
            assert await socket_answer(client, headers) == 403
    if "Host" in headers:
        assert await handshake(keyless, headers["Host"]) == 403


async def handshake(server: Server, host: str) -> int:
    """The status of a WebSocket handshake with another Host than the address."""
    lines = {
        "Host": host,
        "Connection": "Upgrade",
        "Upgrade": "websocket",
        "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "AAAAAAAAAAAAAAAAAAAAAA==",
        "Sec-WebSocket-Protocol": PROTOCOL,
    }
    async with server.client() as client:
        return (await client.http.get("/graphql", headers=lines)).status_code


async def test_pages_of_this_server_and_allowed_ones_may_ask(keyless: Server) -> None:
    """GraphiQL's own origin is no foreign one, nor is one that the owner named."""
    async with keyless.client() as client:
        for origin in (keyless.url, ORIGIN, "http://localhost:3000"):
            assert (await asked(client, {"Origin": origin}))[0] == 200
            assert await socket_answer(client, origin=origin) == "connection_ack"


@pytest.mark.covers("SRV-1", "W43")
async def test_with_a_key_only_who_has_it_is_let_in(keyed: Server) -> None:
    """401 with the usual JSON body for all others, on this machine too."""
    async with keyed.client() as client:
        for headers in (
            {},
            {"Authorization": "Bearer"},
            {"Authorization": f"Bearer {KEY}x"},
            {"Authorization": f"Bearer {KEY[:-1]}"},
            {"Authorization": f"Basic {KEY}"},
            {"Authorization": KEY},
            {"X-Api-Key": KEY},
            {"Cookie": f"Authorization={KEY}"},
        ):
            answer = await client.http.post("/graphql", json={"query": ME}, headers=headers)
            assert answer.status_code == 401, headers
            assert answer.headers["www-authenticate"] == "Bearer"
            body = answer.json()
            assert body["data"] is None
            assert body["errors"][0]["extensions"]["code"] == "UNAUTHENTICATED"
            assert KEY not in answer.text
        me = {"spaceId": "default", "keyName": "bootstrap", "scope": "ADMIN"}
        for scheme in ("Bearer", "bearer", "BEARER "):
            assert await asked(client, {"Authorization": f"{scheme} {KEY}"}) == (200, {"me": me})
        forwarded = {"Authorization": f"Bearer {KEY}", "Host": "chat.example", "X-Forwarded-For": "192.0.2.1"}
        assert await asked(client, forwarded) == (200, {"me": me})


@pytest.mark.covers("SRV-1", "TC23", "W43")
@pytest.mark.parametrize(
    ("payload", "answer"),
    [
        ({"Authorization": f"Bearer {KEY}"}, "connection_ack"),
        ({"authorization": f"bearer {KEY}"}, "connection_ack"),
        (None, 4403),
        ({}, 4403),
        ({"Authorization": "Bearer wrong"}, 4403),
        ({"Authorization": [KEY]}, 4403),
        ({"Authorization": None}, 4403),
    ],
    ids=str,
)
async def test_a_socket_has_its_key_in_connection_init(keyed: Server, payload: Any, answer: Any) -> None:
    """Acknowledged, or closed with 4403; a header of the handshake does not count."""
    async with keyed.client() as client:
        assert await socket_answer(client, payload=payload) == answer
        assert await socket_answer(client, {"Authorization": f"Bearer {KEY}"}, payload) == answer


@pytest.mark.covers("TC23")
async def test_a_front_end_elsewhere_is_let_in_by_name(keyed: Server) -> None:
    """CORS and WebSocket for STELLO_ALLOWED_ORIGINS, for no other."""
    asking = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization"}
    async with keyed.client() as client:
        allowed = await client.http.options("/graphql", headers={"Origin": ORIGIN, **asking})
        assert (allowed.status_code, allowed.headers["access-control-allow-origin"]) == (200, ORIGIN)
        assert "authorization" in allowed.headers["access-control-allow-headers"].lower()
        foreign = await client.http.options("/graphql", headers={"Origin": "https://evil.example", **asking})
        assert foreign.status_code == 400
        assert "access-control-allow-origin" not in foreign.headers
        refused = await client.http.post("/graphql", json={"query": ME}, headers={"Origin": ORIGIN})
        assert (refused.status_code, refused.headers["access-control-allow-origin"]) == (401, ORIGIN)
        payload = {"Authorization": f"Bearer {KEY}"}
        for origin in (ORIGIN, "http://localhost:3000", keyed.url):
            assert await socket_answer(client, payload=payload, origin=origin) == "connection_ack", origin
        assert await socket_answer(client, payload=payload, origin="https://evil.example") == 403


async def test_health_and_pages_need_no_key(keyed: Server) -> None:
    """Probes and the pages' files hold nothing of anybody's."""
    async with keyed.client() as client:
        for path in ("/healthz", "/readyz"):
            answer = await client.http.get(path)
            assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
        page = await client.http.get("/graphql", headers={"Accept": "text/html"})
        assert (page.status_code, page.headers["content-type"]) == (200, "text/html; charset=utf-8")
        assert (await client.http.get("/static/../settings.py")).status_code == 404
        assert (await client.http.get("/static/%2e%2e/%2e%2e/pyproject.toml")).status_code == 404


def test_a_key_that_is_too_short_starts_nothing() -> None:
    """A sentence, exit 1, and the key itself is not told."""
    done = run(["serve", "--port", "0"], {"STELLO_BOOTSTRAP_KEY": "short-secret"})
    assert (done.returncode, done.stdout) == (1, "")
    assert "STELLO_BOOTSTRAP_KEY needs 32 characters at least" in done.stderr
    assert "short-secret" not in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.covers("W43")
def test_the_key_is_not_told(keyed: Server) -> None:
    """Neither printed nor logged."""
    assert KEY not in keyed.output()
    assert "Access     by key" in keyed.output()
