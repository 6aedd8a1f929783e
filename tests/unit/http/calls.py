"""Calls of the app as a server makes them: bodies are streamed, clients go away when a test says so."""

import asyncio
import json
from collections.abc import AsyncIterator, Iterable, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any

from starlette.types import ASGIApp, Message

from tests.unit.graphql.conftest import ASKING

__all__ = ["Answer", "post", "sent"]

PATIENCE = 30.0


class Answer:
    """An answer while it comes."""

    def __init__(self) -> None:
        self.status = 0
        self.headers: dict[str, str] = {}
        self.body = b""
        self.changed = asyncio.Event()
        self.done = False

    def take(self, message: Message) -> None:
        """What the app sends."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            self.headers = {name.decode(): value.decode() for name, value in message["headers"]}
        else:
            self.body += message.get("body", b"")
            self.done = not message.get("more_body", False)
        self.changed.set()

    async def until(self, text: bytes) -> None:
        """Waits for a part of the body."""
        async with asyncio.timeout(PATIENCE):
            while text not in self.body:
                assert not self.done, self.body
                self.changed.clear()
                await self.changed.wait()

    @property
    def json(self) -> Any:
        """The whole body."""
        return json.loads(self.body)

    @property
    def lines(self) -> list[Any]:
        """The lines of JSON so far."""
        return [json.loads(line) for line in self.body.splitlines()]

    @property
    def events(self) -> list[tuple[str, Any]]:
        """The server-sent events so far, comments left out."""
        found = []
        for block in self.body.decode().split("\n\n"):
            lines = dict(
                line.split(": ", 1) for line in block.split("\n") if not line.startswith(":") and line
            )
            if "event" in lines:
                found.append((lines["event"], json.loads(lines["data"]) if lines["data"] else None))
        return found


@asynccontextmanager
async def post(
    app: ASGIApp,
    document: str,
    headers: Mapping[str, str] = MappingProxyType({}),
    operation: str | None = None,
    **variables: Any,
) -> AsyncIterator[Answer]:
    """Asks by GraphQL; see `sent`."""
    body = json.dumps({"query": document, "variables": variables, "operationName": operation}).encode()
    given = {"content-type": "application/json", **headers}
    async with sent(app, "/graphql", [body], given) as answer:
        yield answer


@asynccontextmanager
async def sent(
    app: ASGIApp,
    path: str,
    body: Iterable[bytes],
    headers: Mapping[str, str] = MappingProxyType({}),
    *,
    method: str = "POST",
    query: str = "",
    whole: bool = True,
) -> AsyncIterator[Answer]:
    """Asks; the client goes away at the end of the block, and the app has then let go of the call.

    Args:
        whole: False says that more of the body comes, though nothing does.
    """
    given = {"host": "localhost", **headers}
    scope = {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": query.encode(),
        "scheme": "http",
        "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
        "client": ("127.0.0.1", 50_000),
        "server": ("localhost", 80),
    }
    gone = asyncio.Event()
    answer = Answer()
    *pieces, last = body
    bodies = [{"type": "http.request", "body": piece, "more_body": True} for piece in pieces]
    bodies.append({"type": "http.request", "body": last, "more_body": not whole})

    async def receive() -> Message:
        if bodies:
            return bodies.pop(0)
        await gone.wait()
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        answer.take(message)

    async def called() -> None:
        ASKING.set(True)
        await app(scope, receive, send)

    call = asyncio.create_task(called())
    try:
        yield answer
    finally:
        gone.set()
        async with asyncio.timeout(PATIENCE):
            await call
