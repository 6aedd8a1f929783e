"""The processes beside this one: Neo4j, the server, the raw contestants, the peer."""

import asyncio
import os
import re
import shutil
import subprocess
import sys
import tempfile
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson
import psutil

from bench.drive import Measured
from bench.items import Contestant
from stello_graph.settings import Settings
from tests.neo4j_server import LTS, jars, java
from tests.neo4j_server.local import LocalServer

__all__ = ["RawProcess", "Service", "endpoint", "neo4j", "peer", "raw_process", "service", "store"]

_ROOT = Path(__file__).resolve().parents[1]
_PEER = Path(__file__).parent / "peer"
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


@contextmanager
def store(given: str, heap: str) -> Iterator[str]:
    """The URL of a store: `sqlite`, a file that goes; `neo4j`, a server that goes; or what is given."""
    match given:
        case "sqlite":
            with tempfile.TemporaryDirectory(prefix="bench-") as folder:
                yield f"sqlite:///{Path(folder) / 'bench.db'}"
        case _:
            with neo4j(None if given == "neo4j" else given, heap) as url:
                yield url


@dataclass(frozen=True)
class Service:
    """A server of ours."""

    port: int
    pid: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def memory(self) -> float:
        """What its process holds now, in MB."""
        return self._status("VmRSS")

    @property
    def cpu(self) -> float:
        """Seconds of processor time of its process so far."""
        times = psutil.Process(self.pid).cpu_times()
        return times.user + times.system

    @property
    def peak(self) -> float:
        """The most that its process held so far, in MB; sampling would miss what is held for a moment."""
        return self._status("VmHWM")

    def _status(self, name: str) -> float:
        status = Path(f"/proc/{self.pid}/status").read_text()
        found = re.search(rf"^{name}:\s*(\d+) kB$", status, re.MULTILINE)
        assert found, status
        return int(found[1]) * 1_024 / 1_000_000


@asynccontextmanager
async def service(
    url: str, space: str, *, pace: float = 0.0, settings: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[Service]:
    """A server of one Space, which is there already.

    Args:
        pace: seconds that its model waits before each piece of text; 0: it answers at once.
    """
    command = ("bench.server", space, str(pace), "serve", "--port", "0", "--grace", "1")
    async with _python(url, *command, settings=settings) as process:
        yield Service(await _port(process), process.pid)


@asynccontextmanager
async def endpoint(url: str, space: str) -> AsyncIterator[int]:
    """The port of the least that can answer the reads."""
    async with _python(url, "bench.endpoint", space) as process:
        yield await _port(process)


@asynccontextmanager
async def peer(settings: Settings) -> AsyncIterator[int]:
    """The port of the peer; what it needs is installed first, where it is not yet."""
    for program in ("node", "npm"):
        if shutil.which(program) is None:
            raise RuntimeError(f"the peer needs {program} on PATH: Node.js 20 or newer")
    await asyncio.to_thread(_install_peer)
    password = settings.neo4j_password
    given = {
        "NEO4J_URL": settings.store,
        "NEO4J_USER": settings.neo4j_user or "",
        "NEO4J_PASSWORD": "" if password is None else password.get_secret_value(),
        "NEO4J_DATABASE": settings.neo4j_database or "",
    }
    async with _process("node", "server.mjs", folder=_PEER, environment={**os.environ, **given}) as process:
        yield await _port(process)


def _install_peer() -> None:
    # npm writes the file at the end of an installation.
    lock, installed = _PEER / "package-lock.json", _PEER / "node_modules" / ".package-lock.json"
    if not installed.exists() or installed.stat().st_mtime < lock.stat().st_mtime:
        command = ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"]
        subprocess.run(command, cwd=_PEER, stdout=sys.stderr, check=True)


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
async def _python(
    url: str, *arguments: str, settings: Mapping[str, str] = MappingProxyType({})
) -> AsyncIterator[Process]:
    kept = {
        name: value
        for name, value in os.environ.items()
        if name.startswith("STELLO_NEO4J_") or not name.startswith(("STELLO_", "ANTHROPIC_"))
    }
    environment = {**kept, "STELLO_STORE": url, "PYTHONUNBUFFERED": "1", **settings}
    async with _process(sys.executable, "-m", *arguments, folder=_ROOT, environment=environment) as process:
        yield process


@asynccontextmanager
async def _process(*command: str, folder: Path, environment: Mapping[str, str]) -> AsyncIterator[Process]:
    process = await asyncio.create_subprocess_exec(
        *command, cwd=folder, env=environment, stdin=PIPE, stdout=PIPE, limit=_LINE_LIMIT
    )
    try:
        yield process
    finally:
        if process.returncode is None:
            process.terminate()
        await process.wait()


async def _port(process: Process) -> int:
    return int((await _line_with(process, rb"http://127\.0\.0\.1:(\d+)/\s*$"))[1])


async def _line_with(process: Process, pattern: bytes) -> re.Match[bytes]:
    assert process.stdout is not None
    while line := await process.stdout.readline():
        if match := re.search(pattern, line):
            return match
    raise RuntimeError("a process of the benchmark has ended; see above")


async def _answer(process: Process) -> Any:
    return orjson.loads((await _line_with(process, rb"^\{.*\}"))[0])
