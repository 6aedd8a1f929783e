"""A small GraphQL client: HTTP, and graphql-transport-ws with one socket for each subscription."""

import asyncio
import itertools
import json
import time
from collections.abc import AsyncGenerator, AsyncIterator, Mapping
from contextlib import asynccontextmanager
from types import TracebackType
from typing import Any, Self

import httpx
from websockets.asyncio.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

from tests.e2e import documents

__all__ = ["Client", "Event", "Follower", "Refused", "Socket"]

Event = dict[str, Any]

PROTOCOL = Subprotocol("graphql-transport-ws")
PATIENCE = 60.0


class Refused(Exception):
    """The errors of a GraphQL answer."""

    def __init__(self, errors: list[dict[str, Any]]) -> None:
        super().__init__(errors)
        self.errors = errors

    @property
    def code(self) -> str:
        """The code of the first."""
        return str(self.extensions["code"])

    @property
    def extensions(self) -> dict[str, Any]:
        """The extensions of the first."""
        found: dict[str, Any] = self.errors[0]["extensions"]
        return found


class Socket:
    """A WebSocket after `connection_init`, for several operations at once."""

    def __init__(self, connection: ClientConnection) -> None:
        self.connection = connection
        self._ids = itertools.count(1)

    async def say(self, message: Mapping[str, Any]) -> None:
        """Sends a frame."""
        await self.connection.send(json.dumps(message))

    async def hear(self) -> dict[str, Any]:
        """The next frame; pings are answered."""
        while True:
            message: dict[str, Any] = json.loads(await self.connection.recv())
            if message["type"] != "ping":
                return message
            await self.say({"type": "pong"})

    async def subscribe(self, document: str, variables: Mapping[str, Any]) -> str:
        """Starts an operation and returns its id."""
        id = str(next(self._ids))
        await self.say(
            {"id": id, "type": "subscribe", "payload": {"query": document, "variables": dict(variables)}}
        )
        return id


class Client:
    """Asks one server."""

    def __init__(self, url: str, *, key: str | None = None) -> None:
        self.url = url
        headers = {} if key is None else {"Authorization": f"Bearer {key}"}
        # Without verify=False each client reads all certificates of the machine first.
        self.http = httpx.AsyncClient(
            base_url=url, headers=headers, timeout=PATIENCE, trust_env=False, verify=False
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.http.aclose()

    async def ask(self, document: str, /, **variables: Any) -> Any:
        """The data of an answer. Raises Refused where there are errors."""
        response = await self.http.post("/graphql", json={"query": document, "variables": variables})
        body = response.json()
        if body.get("errors"):
            raise Refused(body["errors"])
        return body["data"]

    @asynccontextmanager
    async def socket(
        self, payload: Mapping[str, Any] | None = None, *, origin: str | None = None
    ) -> AsyncIterator[Socket]:
        """An acknowledged WebSocket."""
        async with self.connection(origin=origin) as connection:
            socket = Socket(connection)
            await socket.say({"type": "connection_init"} | ({} if payload is None else {"payload": payload}))
            acknowledged = await socket.hear()
            assert acknowledged["type"] == "connection_ack", acknowledged
            yield socket

    def connection(self, *, origin: str | None = None, headers: Mapping[str, str] | None = None) -> connect:
        """A bare WebSocket."""
        return connect(
            self.url.replace("http", "ws", 1) + "/graphql",
            subprotocols=[PROTOCOL],
            origin=None if origin is None else Origin(origin),
            additional_headers=headers,
            proxy=None,
            max_size=None,
            open_timeout=PATIENCE,
        )

    async def subscribe(self, document: str, /, **variables: Any) -> AsyncGenerator[Any, None]:
        """The data of each result. Raises Refused at the first error."""
        async with self.socket() as socket:
            await socket.subscribe(document, variables)
            while True:
                message = await socket.hear()
                match message["type"]:
                    case "next" if message["payload"].get("errors"):
                        raise Refused(message["payload"]["errors"])
                    case "next":
                        yield message["payload"]["data"]
                    case "error":
                        raise Refused(message["payload"])
                    case "complete":
                        return

    async def create(self, id: str, **fields: Any) -> str:
        """Creates a session; returns its id."""
        await self.ask(documents.CREATE, input={"id": id, **fields})
        return id

    async def start(self, session: str, content: str, **more: Any) -> Any:
        """Begins a turn."""
        asked = {"sessionId": session, "content": content, **more}
        return (await self.ask(documents.START, input=asked))["startTurn"]

    async def send(self, session: str, content: str, **more: Any) -> Any:
        """Runs a turn to its end."""
        asked = {"sessionId": session, "content": content, **more}
        return (await self.ask(documents.SEND, input=asked))["send"]

    async def turn(self, id: str) -> Any:
        """A turn as it is stored."""
        return (await self.ask(documents.TURN, id=id))["turn"]

    async def cancel(self, id: str) -> Any:
        """Cancels a turn."""
        return (await self.ask(documents.CANCEL, id=id))["cancelTurn"]

    async def session(self, id: str) -> Any:
        """A session with its turns."""
        return (await self.ask(documents.TURNS, id=id))["session"]

    async def transcript(self, session: str, last: int = 1000) -> list[Any]:
        """The newest messages, oldest first."""
        found = await self.ask(documents.TRANSCRIPT, id=session, last=last)
        nodes: list[Any] = found["session"]["messages"]["nodes"]
        return nodes

    async def events(self, turn: str, after: int = 0) -> list[Event]:
        """All events of a turn after a number, up to its end."""
        follower = Follower(self, turn, after)
        async with follower, asyncio.timeout(PATIENCE):
            return await follower.ended()


class Follower:
    """Follows a turn in the background, and keeps what it hears with the time at which it came."""

    def __init__(self, client: Client, turn: str, after: int = 0) -> None:
        self.events: list[Event] = []
        self.times: list[float] = []
        self.broken: Exception | None = None
        self._stream = client.subscribe(documents.EVENTS, id=turn, after=after)
        self._changed = asyncio.Event()
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.create_task(self._listen())
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)

    @property
    def text(self) -> str:
        """The deltas so far."""
        return "".join(event["text"] for event in self.events if event["__typename"] == "TextDelta")

    @property
    def seq(self) -> int:
        """The number of the last event, 0 before the first."""
        return int(self.events[-1]["seq"]) if self.events else 0

    def text_until(self, moment: float) -> str:
        """The deltas that came before a moment of the monotonic clock."""
        heard = [event for event, at in zip(self.events, self.times, strict=True) if at <= moment]
        return "".join(event["text"] for event in heard if event["__typename"] == "TextDelta")

    async def heard(self, characters: int) -> str:
        """Waits until so much text came."""
        await self._until(lambda: len(self.text) >= characters)
        return self.text

    async def ended(self) -> list[Event]:
        """Waits for the end of the turn and returns all events."""
        await self._until(lambda: bool(self.events) and self.events[-1]["__typename"] == "TurnEnded")
        return self.events

    async def _until(self, reached: Any) -> None:
        async with asyncio.timeout(PATIENCE):
            while not reached():
                if self.broken is not None:
                    raise self.broken
                self._changed.clear()
                await self._changed.wait()

    async def _listen(self) -> None:
        try:
            async for data in self._stream:
                self.events.append(data["turnEvents"])
                self.times.append(time.monotonic())
                self._changed.set()
        except Exception as error:
            self.broken = error
        finally:
            self._changed.set()
            await self._stream.aclose()
