"""Those who follow a Space's map, and those who talk in it and follow the answers."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from datetime import datetime
from time import time
from typing import Any

import orjson

from tests.e2e.client import Client, Socket

__all__ = ["Heard", "Listener", "Speaker"]

_MAP = "subscription ($after: Long!) { topologyEvents(after: $after) { type at } }"
_TURN = "subscription ($id: ID!) { turnEvents(turnId: $id) { __typename at } }"
_START = "mutation ($input: SendInput!) { startTurn(input: $input) { id } }"


@dataclass
class Heard:
    """What came how late, in seconds, since the last `clear`.

    Attributes:
        events: that a turn ended, after the store's clock when it was written.
        first: the first delta of a turn, after it was asked for.
        deltas: of a turn's text, after the server's clock when it was said.
        turns: that ended.
    """

    events: list[float] = field(default_factory=list)
    first: list[float] = field(default_factory=list)
    deltas: list[float] = field(default_factory=list)
    turns: int = 0

    def clear(self) -> None:
        """Forgets what came while all began."""
        for delays in (self.events, self.first, self.deltas):
            delays.clear()
        self.turns = 0


class Listener:
    """One subscriber, on a WebSocket of its own.

    Attributes:
        turns: whose end it heard of.
    """

    def __init__(self, client: Client, heard: Heard) -> None:
        self._client = client
        self._heard = heard
        self.turns = 0

    async def follow(self, after: int) -> None:
        """Listens to all that comes after an event's number, until a session is archived."""
        async with self._client.socket() as socket:
            await socket.subscribe(_MAP, {"after": after})
            async for payload in _data(socket):
                event = payload["topologyEvents"]
                if event["type"] == "TURN_ENDED":
                    self._heard.events.append(_late(event["at"]))
                    self.turns += 1
                if event["type"] == "SESSION_ARCHIVED":
                    return


class Speaker:
    """One session and a WebSocket of its own, on which its turns are followed, one after the other."""

    def __init__(self, client: Client, session_id: str, heard: Heard) -> None:
        self._client = client
        self._session_id = session_id
        self._heard = heard
        self.turns = 0

    async def talk(self, until: float) -> None:
        """Turn after turn; what was begun is heard to its end."""
        async with self._client.socket() as socket:
            while time() < until:
                await self._turn(socket)

    async def _turn(self, socket: Socket) -> None:
        asked = time()
        started = {"sessionId": self._session_id, "content": "Which star was named first, and who named it?"}
        turn = (await self._client.ask(_START, input=started))["startTurn"]["id"]
        await socket.subscribe(_TURN, {"id": turn})
        deltas = 0
        async for payload in _data(socket):
            event = payload["turnEvents"]
            if event["__typename"] == "TextDelta":
                if deltas == 0:
                    self._heard.first.append(time() - asked)
                self._heard.deltas.append(_late(event["at"]))
                deltas += 1
        assert deltas, "a turn without text"
        self._heard.turns += 1
        self.turns += 1


async def _data(socket: Socket) -> AsyncIterator[Any]:
    """The data of one operation's results, up to its end."""
    while True:
        message = orjson.loads(await socket.connection.recv())
        match message["type"]:
            case "next" if "errors" not in message["payload"]:
                yield message["payload"]["data"]
            case "ping":
                await socket.say({"type": "pong"})
            case "complete":
                return
            case _:
                raise RuntimeError(f"the server answers with {message}")


def _late(at: str) -> float:
    return time() - datetime.fromisoformat(at).timestamp()
