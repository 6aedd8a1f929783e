"""The app with something in it, asked in any way, and what is true of every answer."""

import asyncio
import gc
import json
import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from starlette.requests import HTTPConnection
from starlette.types import Message

from stello_graph.errors import ErrorCode
from stello_graph.http.app import app_of
from stello_graph.ids import DEFAULT_SPACE
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.message import MessageRole
from stello_graph.model.requests import AppendedMessage, CreateSession, Send
from stello_graph.model.values import KeyScope, SessionStatus, Viewer
from stello_graph.service import StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.sqlite import SqliteEngine
from stello_graph.store.store import GraphStore
from tests.conformance.databases import SqliteDatabase
from tests.conformance.invariants import check_invariants
from tests.unit.http.calls import PATIENCE, Answer
from tests.unit.http.sockets import Socket, socket

__all__ = ["JSON", "World", "check_errors"]

JSON: Final = ((b"host", b"localhost"), (b"content-type", b"application/json"))
_CODES: Final = {code.value for code in ErrorCode} - {"INTERNAL"}
_INSIDE: Final = re.compile(
    r"Traceback|\w\.py\b|site-packages|stello_graph\.|object at 0x|sqlite3|SQLite|\bSQL\b|constraint failed"
    r"|SELECT |MATCH \(|pydantic|validation error for|NoneType|\b[A-Z][a-z]+Error\b|has no attribute"
    r"|unexpected keyword|<class '"
)


class _Log(logging.Handler):
    """What the server holds for a fault of its own."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.lines: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))


def _authenticate(connection: HTTPConnection, _payload: Mapping[str, Any]) -> Viewer:
    if connection.headers.get("x-operator"):
        return Viewer(space_id=None, scope=KeyScope.OPERATOR)
    return Viewer(space_id=DEFAULT_SPACE, scope=KeyScope.ADMIN)


class World:
    """An app on a file of its own, in a loop of its own, so that examples can share it."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "stello.db"
        self.log = _Log()
        self.runner = asyncio.Runner()
        self.turn_id = ""

    def __enter__(self) -> "World":
        logging.getLogger().addHandler(self.log)
        self.runner.run(self._open())
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self.runner.run(self.graph.aclose())
        finally:
            self.runner.close()
            logging.getLogger().removeHandler(self.log)
        assert self.log.lines == []

    async def _open(self) -> None:
        settings = Settings(grace=0, scheduler_seconds=3600, janitor_seconds=3600, max_turns=1_000)
        store = GraphStore(SqliteEngine(self._path))
        self.graph = StelloGraph(store, ScriptedLLM(default="done"), settings)
        await self.graph.open()
        self.app = app_of(self.graph, opens=False, authenticate=_authenticate)
        await self.graph.store.ensure_space("other", "Other")
        await self.fill()
        self.turn_id = (await self.graph.space().send(Send(session_id="s0", content="hi"))).id

    async def fill(self) -> None:
        """Makes anew what is missing or archived: a tree of s0, with s1 to s3 below it."""
        space = self.graph.space()
        ids = ["s0", "s1", "s2", "s3"]
        there = await space.store.sessions(ids)
        for place, id in enumerate(ids):
            if id not in there:
                parent = None if place == 0 else ids[place - 1 - (place == 3)]
                await space.create_session(CreateSession(id=id, label=f"Label {place}", parent_id=parent))
                await space.append(id, [AppendedMessage(role=MessageRole.USER, content="a question")])
            elif there[id].status != "ACTIVE":
                await space.store.set_status(id, SessionStatus.ACTIVE)

    def named(self, value: Any) -> Any:
        """A value with the ids that only a world knows."""
        match value:
            case dict():
                return {name: self.named(item) for name, item in value.items()}
            case list():
                return [self.named(item) for item in value]
            case "a turn":
                return self.turn_id
        return value

    async def call(
        self,
        body: bytes | Sequence[bytes],
        headers: Sequence[tuple[bytes, bytes]] = JSON,
        *,
        path: str = "/graphql",
        method: str = "POST",
        query: bytes = b"",
        enough: bytes | None = None,
    ) -> Answer:
        """One request, and its whole answer, or as much of it as is enough; then the client is gone."""
        scope = {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": method,
            "path": path,
            "raw_path": path.encode(),
            "root_path": "",
            "query_string": query,
            "scheme": "http",
            "headers": list(headers),
            "client": ("127.0.0.1", 50_000),
            "server": ("localhost", 80),
        }
        answer, gone = Answer(), asyncio.Event()
        chunks = [body] if isinstance(body, bytes) else list(body)
        bodies = [
            {"type": "http.request", "body": chunk, "more_body": place < len(chunks)}
            for place, chunk in enumerate(chunks, 1)
        ]

        async def receive() -> Message:
            if bodies:
                return bodies.pop(0)
            await gone.wait()
            return {"type": "http.disconnect"}

        async def send(message: Message) -> None:
            answer.take(message)

        async with asyncio.timeout(PATIENCE):
            call = asyncio.ensure_future(self.app(scope, receive, send))
            while not answer.done and not call.done() and (enough is None or enough not in answer.body):
                answer.changed.clear()
                waiting = asyncio.ensure_future(answer.changed.wait())
                await asyncio.wait((call, waiting), return_when=asyncio.FIRST_COMPLETED)
                waiting.cancel()
            for _ in range(20):
                await asyncio.sleep(0)
            gone.set()
            await call
        return answer

    def socket(self) -> Any:
        """A socket that said hello."""
        return socket(self.app)

    def check(self, answer: Answer) -> list[str]:
        """Holds of each answer over HTTP; tells the codes of its errors."""
        assert answer.status in (200, 400, 401, 403, 405, 413, 415), (answer.status, answer.body[:500])
        if answer.headers["content-type"].startswith("text/event-stream"):
            codes = [code for kind, data in answer.events if kind == "next" for code in check_result(data)]
        else:
            assert answer.headers["content-type"] == "application/json"
            codes = check_result(answer.json)
        return self.seen(codes)

    def check_socket(self, client: Socket) -> list[str]:
        """Holds of all that a socket told."""
        codes: list[str] = []
        for message in client.told:
            match message["type"]:
                case "next":
                    codes += check_result(message["payload"])
                case "error":
                    codes += check_errors(message["payload"])
        if client.closed is not None:
            code, reason = client.closed
            assert code in (4400, 4401, 4403, 4406, 4408, 4409, 4429), client.closed
            assert len(reason.encode()) <= 123
            assert not _INSIDE.search(reason)
        return self.seen(codes)

    def seen(self, codes: list[str]) -> list[str]:
        """Nothing was logged as a fault."""
        assert self.log.lines == []
        return codes

    def check_store(self) -> None:
        """The store is as it must be."""
        check_invariants(SqliteDatabase(self._path).snapshot(DEFAULT_SPACE))

    def objects(self) -> int:
        """How many objects there are once nothing is left over."""
        for _ in range(3):
            gc.collect()
        return len(gc.get_objects())


def check_result(result: Any) -> list[str]:
    """Data or errors, nothing else; tells the codes."""
    assert isinstance(result, dict)
    assert set(result) <= {"data", "errors", "extensions"}
    assert "INTERNAL" not in json.dumps(result.get("data"))
    return check_errors(result["errors"]) if "errors" in result else []


def check_errors(errors: Any) -> list[str]:
    """Each with a message that tells nothing of the inside, and a code that is no fault of ours."""
    assert isinstance(errors, list)
    assert errors
    for error in errors:
        assert isinstance(error["message"], str)
        assert error["message"]
        assert not _INSIDE.search(error["message"]), error
        assert error["extensions"]["code"] in _CODES, error
        assert isinstance(error["extensions"]["retryable"], bool)
    return [error["extensions"]["code"] for error in errors]
