"""The processes beside this one: Neo4j, the server, the raw contestants."""

import asyncio
import os
import re
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import orjson

from bench.drive import Measured
from bench.items import Contestant
from tests.neo4j_server import LTS, jars, java
from tests.neo4j_server.local import LocalServer

__all__ = ["RawProcess", "neo4j", "raw_process", "service"]

_ROOT = Path(__file__).resolve().parents[1]
_LINE_LIMIT = 2**20


@contextmanager
def neo4j(given: str | None, heap: str) -> Iterator[str]:
    """The URL of a Neo4j: the given one, or a fresh one of its own."""
    if given is not None:
        yield given
        return
    class_path = jars.class_path(LTS, lambda text: print(text, file=sys.stderr))
    with tempfile.TemporaryDirectory(prefix="bench-neo4j-") as home:
        server = LocalServer(LTS, java.find(LTS.oldest_java), class_path, Path(home), heap=heap, options=())
        try:
            server.start()
            yield server.url
        finally:
            server.stop()


@asynccontextmanager
async def service(url: str, space: str) -> AsyncIterator[int]:
    """The port of the server."""
    async with _python(url, "bench.server", space, "serve", "--port", "0", "--grace", "1") as process:
        yield int((await _line_with(process, rb"http://127\.0\.0\.1:(\d+)/\s*$"))[1])


class RawProcess:
    """The raw contestants.

    Attributes:
        port: of the server that answers with the same bytes always.
    """

    def __init__(self, process: Process, port: int) -> None:
        self._process = process
        self.port = port

    async def measure(
        self, letter: str, contestant: Contestant, concurrency: int, seconds: float
    ) -> Measured:
        assert self._process.stdin is not None
        order = {
            "letter": letter,
            "contestant": contestant,
            "concurrency": concurrency,
            "seconds": seconds,
        }
        self._process.stdin.write(orjson.dumps(order) + b"\n")
        return Measured(**await _answer(self._process))


@asynccontextmanager
async def raw_process(url: str, space: str, nodes: int, messages: int) -> AsyncIterator[RawProcess]:
    """A process that measures the raw contestants."""
    async with _python(url, "bench.raw", space, str(nodes), str(messages)) as process:
        yield RawProcess(process, (await _answer(process))["port"])


@asynccontextmanager
async def _python(url: str, *arguments: str) -> AsyncIterator[Process]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.startswith("STELLO_NEO4J_") or not name.startswith(("STELLO_", "ANTHROPIC_"))
    }
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        *arguments,
        cwd=_ROOT,
        env=kept | {"STELLO_STORE": url, "PYTHONUNBUFFERED": "1"},
        stdin=PIPE,
        stdout=PIPE,
        limit=_LINE_LIMIT,
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _line_with(process: Process, pattern: bytes) -> re.Match[bytes]:
    assert process.stdout is not None
    while line := await process.stdout.readline():
        if match := re.search(pattern, line):
            return match
    raise RuntimeError("a process of the benchmark has ended; see above")


async def _answer(process: Process) -> Any:
    return orjson.loads((await _line_with(process, rb"^\{.*\}"))[0])
