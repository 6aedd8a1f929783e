"""examples/client against a server: types by graphql-codegen, urql, graphql-ws and graphql-sse."""

import asyncio
import re
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.conftest import Serve, sqlite_store
from tests.npm import Project

ROOT: Final = Path(__file__).parents[2]
KEY: Final = "a-key-of-thirty-two-characters-and-more"
MADE: Final = shutil.ignore_patterns("node_modules", "generated", "dist")
PLANTED: Final = """import type { SearchQuery } from './generated/operations.js'
export const wrong = (found: SearchQuery): number[] => found.search.map((hit) => hit.snippet)
"""
# Into the reply of the first turn: more than the handshake and less than all events.
HEARD: Final = 1_000


class Wire:
    """Passes on what a server and its clients say, and cuts the first WebSocket in the middle of a turn."""

    def __init__(self, port: int) -> None:
        self._port = port
        self._connections: set[asyncio.Task[None]] = set()
        self.cuts = 0
        self.url = ""

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/graphql"
        try:
            yield
        finally:
            server.close()
            for connection in self._connections:
                connection.cancel()
            await asyncio.gather(*self._connections, return_exceptions=True)

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connection = asyncio.current_task()
        assert connection is not None
        self._connections.add(connection)
        beyond_reader, beyond_writer = await asyncio.open_connection("127.0.0.1", self._port)
        first = await reader.read(65_536)
        beyond_writer.write(first)
        is_cut = b"upgrade: websocket" in first.lower() and not self.cuts
        self.cuts += is_cut
        ways = [
            asyncio.create_task(passed_on(reader, beyond_writer)),
            asyncio.create_task(passed_on(beyond_reader, writer, HEARD if is_cut else None)),
        ]
        try:
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)
            for end in (writer, beyond_writer):
                end.close()


async def passed_on(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, most: int | None = None
) -> None:
    """To the end, or so many bytes of it."""
    while (most is None or most > 0) and (heard := await reader.read(65_536 if most is None else most)):
        most = None if most is None else most - len(heard)
        writer.write(heard)
        await writer.drain()


def project_of(folder: Path, node: Path) -> Project:
    """The program, generated and built; one that misuses the types is refused."""
    shutil.copytree(ROOT / "examples" / "client", folder / "examples" / "client", ignore=MADE)
    (folder / "docs").mkdir()
    for name in ("schema.graphql", "docs/operations.graphql"):
        shutil.copyfile(ROOT / name, folder / name)
    project = Project(folder / "examples" / "client", node)
    project.script("generate")
    project.script("build")
    (project.folder / "planted.ts").write_text(PLANTED)
    with pytest.raises(AssertionError, match="planted"):
        project.script("build")
    return project


async def test_a_program_with_the_clients_that_people_use(
    serve: Serve, node_path: Path, tmp_path: Path
) -> None:
    """With a key, by header and by connection_init; a reply that was cut off in the middle comes whole."""
    project = await asyncio.to_thread(project_of, tmp_path, node_path)
    server = serve(sqlite_store(tmp_path), settings={"STELLO_BOOTSTRAP_KEY": KEY})
    wire = Wire(int(server.url.rpartition(":")[2]))
    async with wire.running(), server.client(KEY) as client:
        environment = {"STELLO_KEY": KEY}
        told = await asyncio.to_thread(project.node, "dist/main.js", wire.url, environment=environment)
        sessions = (await client.ask("{ sessions { nodes { id label } } }"))["sessions"]["nodes"]
        ids = {session["label"]: session["id"] for session in sessions}
        reply = (await client.transcript(ids["Lisbon"]))[1]["content"]
    assert told.splitlines() == [
        *f"COMPLETED {reply}".splitlines(),
        "forked 2 messages",
        "star Lisbon below nothing",
        "star By train below Lisbon",
        "refused INVALID_INPUT",
        *["changed SESSION_FORKED"] * 2,
    ]
    assert wire.cuts == 1


def test_the_lock_names_no_host() -> None:
    lock = (ROOT / "examples" / "client" / "package-lock.json").read_text("utf-8")
    assert not re.search(r"https?://|\"resolved\"", lock)
