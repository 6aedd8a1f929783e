"""Behind nginx, configured by the very lines of docs/proxy.md."""

import json
import os
import re
import subprocess
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

import httpx
import pytest

from tests.e2e import documents
from tests.e2e.client import Client
from tests.e2e.conftest import Serve, sqlite_store
from tests.e2e.processes import Server
from tests.e2e.test_turns import held
from tests.e2e.waiting import until
from tests.model_server import ModelServer
from tests.neo4j_server.server import free_port

KEY: Final = "a-key-of-thirty-two-characters-and-more"
DOCUMENT: Final = Path(__file__).parents[2] / "docs" / "proxy.md"
PLAIN, WITH_SOCKETS = re.findall(r"```nginx\n(.*?)```", DOCUMENT.read_text(encoding="utf-8"), re.DOTALL)
AROUND: Final = """
daemon off;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
{user}
events {{}}
http {{
access_log off;
client_body_temp_path {folder}/body;
proxy_temp_path {folder}/proxy;
fastcgi_temp_path {folder}/fastcgi;
uwsgi_temp_path {folder}/uwsgi;
scgi_temp_path {folder}/scgi;
{block}
}}
"""

Proxied = Callable[[Server, str], Client]


@pytest.fixture
def proxied(nginx_path: Path, tmp_path: Path) -> Iterator[Proxied]:
    """Puts an nginx in front of a server; answers a client of it, with the key."""
    with ExitStack() as stack:

        def proxied_(server: Server, block: str) -> Client:
            port = free_port()
            block = block.replace("127.0.0.1:8000", server.url.removeprefix("http://"))
            block = block.replace("listen 80;", f"listen 127.0.0.1:{port};")
            user = "user root;" if os.geteuid() == 0 else ""
            config = tmp_path / "nginx.conf"
            config.write_text(AROUND.format(folder=tmp_path, user=user, block=block), encoding="utf-8")
            command = [
                str(nginx_path),
                "-p",
                str(tmp_path),
                "-c",
                str(config),
                "-e",
                str(tmp_path / "error.log"),
            ]
            process = subprocess.Popen(command, stdin=subprocess.DEVNULL)
            stack.callback(process.wait, 30)
            stack.callback(process.terminate)
            return Client(f"http://127.0.0.1:{port}", key=KEY)

        yield proxied_


@pytest.fixture
def server(serve: Serve, model_settings: dict[str, str], model_server: ModelServer, tmp_path: Path) -> Server:
    """A server with a key."""
    return serve(sqlite_store(tmp_path), settings={"STELLO_BOOTSTRAP_KEY": KEY, **model_settings})


async def answers(client: Client) -> None:
    """Waits until nginx listens."""

    async def answered() -> bool:
        try:
            return (await client.http.get("/healthz")).status_code == 200
        except httpx.TransportError:
            return False

    await until(answered, "nginx answers")


@asynccontextmanager
async def events(
    client: Client, document: str, **variables: Any
) -> AsyncIterator[AsyncIterator[tuple[str, Any]]]:
    """The events of a stream, as they come."""
    body = {"query": document, "variables": variables}
    headers = {"Accept": "text/event-stream", "Accept-Encoding": "gzip"}
    async with client.http.stream("POST", "/graphql", json=body, headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")

        async def found() -> AsyncIterator[tuple[str, Any]]:
            kind = ""
            async for line in answer.aiter_lines():
                name, _, value = line.partition(": ")
                if name == "event":
                    kind = value
                elif name == "data":
                    yield kind, json.loads(value) if value else None

        yield found()


async def test_event_streams_pass_an_nginx_with_its_defaults(
    server: Server, proxied: Proxied, model_server: ModelServer, name: str
) -> None:
    """Events arrive while the model still holds its reply, which waits for this test; then the end does."""
    answer, gate = held("Said while it runs, and after.", 5)
    model_server.respond = lambda _: answer
    async with server.client(KEY) as direct, proxied(server, PLAIN) as client:
        await answers(client)
        await client.create(name)
        turn = await client.start(name, "Talk")
        async with events(client, documents.EVENTS, id=turn["id"], after=0) as stream:
            heard = ""
            while not heard:
                kind, result = await anext(stream)
                assert kind == "next"
                heard += result["data"]["turnEvents"].get("text", "")
            assert (await direct.turn(turn["id"]))["status"] == "RUNNING"
            gate.set()
            rest = [event async for event in stream]
        assert [kind for kind, _ in rest] == ["next"] * (len(rest) - 1) + ["complete"]
        assert rest[-2][1]["data"]["turnEvents"]["__typename"] == "TurnEnded"


async def test_websockets_pass_with_the_documented_lines(
    server: Server, proxied: Proxied, model_server: ModelServer, name: str
) -> None:
    """From a page of the same origin; event streams and bodies of 2 MiB pass as well."""
    answer, gate = held("Said while it runs, and after.", 5)
    model_server.respond = lambda _: answer
    async with proxied(server, WITH_SOCKETS) as client:
        await answers(client)
        await client.create(name)
        turn = await client.start(name, "Talk")
        payload = {"Authorization": f"Bearer {KEY}"}
        async with client.socket(payload, origin=client.url) as socket:
            await socket.subscribe(documents.EVENTS, {"id": turn["id"], "after": 0})
            while True:
                message = await socket.hear()
                assert message["type"] == "next", message
                if message["payload"]["data"]["turnEvents"].get("text"):
                    break
            gate.set()
            while message["type"] != "complete":
                message = await socket.hear()
        async with events(client, "{ me { scope } }") as stream:
            assert [kind async for kind, _ in stream] == ["next", "complete"]
        head = json.dumps({"query": "{ me { scope } }", "variables": {"x": ""}})[:-3]
        body = head + "x" * (2 * 1024 * 1024 - len(head) - 3) + '"}}'
        large = await client.http.post("/graphql", content=body, headers={"Content-Type": "application/json"})
        assert large.json() == {"data": {"me": {"scope": "ADMIN"}}}


async def test_without_keys_nothing_passes_the_documented_lines(
    serve: Serve, proxied: Proxied, tmp_path: Path
) -> None:
    """They say that a request was forwarded, which a server without keys refuses."""
    keyless = serve(sqlite_store(tmp_path))
    async with proxied(keyless, WITH_SOCKETS) as client:
        await answers(client)
        refused = await client.http.post("/graphql", json={"query": "{ me { scope } }"})
        assert (refused.status_code, refused.json()["errors"][0]["extensions"]["code"]) == (403, "FORBIDDEN")
