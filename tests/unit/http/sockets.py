"""A WebSocket as a server makes it: frames of any kind, in any order."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import MappingProxyType
from typing import Any

from starlette.types import ASGIApp, Message

from tests.unit.graphql.conftest import ASKING
from tests.unit.http.calls import PATIENCE

__all__ = ["Socket", "socket"]


class Socket:
    """A client's end."""

    def __init__(self) -> None:
        self.to_app: asyncio.Queue[Message] = asyncio.Queue()
        self.told: list[dict[str, Any]] = []
        self.changed = asyncio.Event()
        self.closed: tuple[int, str] | None = None

    def send(self, frame: Any) -> None:
        """Sends bytes as a binary frame, text as it is, anything else as JSON."""
        match frame:
            case bytes():
                self.to_app.put_nowait({"type": "websocket.receive", "bytes": frame})
            case str():
                self.to_app.put_nowait({"type": "websocket.receive", "text": frame})
            case _:
                self.to_app.put_nowait({"type": "websocket.receive", "text": json.dumps(frame)})

    def subscribe(self, id: str, document: str, operation: str | None = None, **variables: Any) -> None:
        """Asks."""
        payload = {"query": document, "variables": variables, "operationName": operation}
        self.send({"type": "subscribe", "id": id, "payload": payload})

    def take(self, message: Message) -> None:
        """What the app sends."""
        match message["type"]:
            case "websocket.send":
                self.told.append(json.loads(message["text"]))
            case "websocket.close":
                self.closed = message["code"], message.get("reason") or ""
        self.changed.set()

    async def until(self, kind: str, id: str | None = None) -> dict[str, Any]:
        """The first message of a kind, of an operation."""
        async with asyncio.timeout(PATIENCE):
            while True:
                for message in self.told:
                    if message["type"] == kind and message.get("id") == id:
                        return message
                assert self.closed is None, self.closed
                self.changed.clear()
                await self.changed.wait()

    async def over(self, id: str) -> None:
        """Waits until an operation has ended, either way, or the socket is closed."""
        async with asyncio.timeout(PATIENCE):
            while not self.closed and not any(
                message["type"] in ("complete", "error") and message["id"] == id for message in self.told
            ):
                self.changed.clear()
                await self.changed.wait()


@asynccontextmanager
async def socket(
    app: ASGIApp,
    payload: Mapping[str, Any] | None = MappingProxyType({}),
    protocol: str = "graphql-transport-ws",
    path: str = "/graphql",
) -> AsyncIterator[Socket]:
    """Connects, and says hello where there is a payload; the client goes away at the end of the block.

    The app has then let go of the socket, and raised nothing.
    """
    scope = {
        "type": "websocket",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "path": path,
        "raw_path": path.encode(),
        "root_path": "",
        "query_string": b"",
        "scheme": "ws",
        "headers": [(b"host", b"localhost")],
        "client": ("127.0.0.1", 50_000),
        "server": ("localhost", 80),
        "subprotocols": [protocol],
    }
    client = Socket()
    client.to_app.put_nowait({"type": "websocket.connect"})

    async def send(message: Message) -> None:
        client.take(message)

    async def called() -> None:
        ASKING.set(True)
        await app(scope, client.to_app.get, send)

    call = asyncio.create_task(called())
    try:
        if payload is not None:
            client.send({"type": "connection_init", "payload": dict(payload)})
            await client.until("connection_ack")
        yield client
    finally:
        client.to_app.put_nowait({"type": "websocket.disconnect", "code": 1006})
        async with asyncio.timeout(PATIENCE):
            await call
