"""How fast conversations are imported over HTTP, what finds them included, and in how much memory.

Called by `python -m bench.imports [--store sqlite] [--messages 100000]`: see README.md.
"""

import argparse
import os
import random
import sys
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from time import perf_counter
from typing import Any

import httpx
import orjson
import uvloop

from bench.processes import service, store
from bench.seed import open_space
from bench.statements import settings_of
from stello_graph.ids import new_id
from tests.e2e.processes import run

__all__ = ["AT_LEAST", "Imported", "export_lines", "measure"]

AT_LEAST = {"sqlite": 8_000.0, "neo4j": 4_000.0}
_LENGTH = 200
_OF_ONE = 20
_WORDS = 5_000
_PIECE = 2**20
_WARM_UP = 20_000


@dataclass(frozen=True, kw_only=True)
class Imported:
    """One import.

    Attributes:
        cpu: seconds of processor time of the server.
        before: memory of the server in MB before it began.
        peak: the most until its end.
    """

    what: str
    messages: int
    seconds: float
    cpu: float
    before: float
    peak: float
    at_least: float

    @property
    def rate(self) -> float:
        return self.messages / self.seconds

    @property
    def is_met(self) -> bool:
        return self.rate >= self.at_least

    def __str__(self) -> str:
        return (
            f"{self.what:<34}{self.messages:9,}{self.rate:10,.0f}/s{self.at_least:9,.0f}/s"
            f"{1_000_000 * self.cpu / self.messages:9.0f} µs{self.before:8.0f} MB{self.peak:6.0f} MB"
            f"{'' if self.is_met else '  MISSED'}"
        )


def export_lines(messages: int) -> Iterator[bytes]:
    """An export as Claude writes it: conversations of twenty messages of 200 characters each."""
    chance = random.Random(messages)
    words = [
        "".join(chance.choices("abcdefghijklmnopqrstuvwxyz", k=chance.randint(2, 9))) for _ in range(_WORDS)
    ]
    conversations = range(0, messages, _OF_ONE)
    yield b"["
    for first in conversations:
        seqs = range(first, min(first + _OF_ONE, messages))
        said = [_said(seq, " ".join(chance.choices(words, k=_LENGTH // 2))[:_LENGTH]) for seq in seqs]
        comma = b"," if first else b""
        yield comma + orjson.dumps({"uuid": f"talk-{first}", "name": f"Talk {first}", "chat_messages": said})
    yield b"]"


def _said(seq: int, text: str) -> dict[str, Any]:
    return {
        "uuid": f"said-{seq}",
        "sender": "assistant" if seq % 2 else "human",
        "text": text,
        "content": [{"type": "text", "text": text}],
        "created_at": f"2025-01-01T{seq // 3600 % 24:02}:{seq // 60 % 60:02}:{seq % 60:02}Z",
    }


async def measure(url: str, folder: Path, messages: int) -> AsyncIterator[Imported]:
    """An export of another service; then, in another Space, what we export of that."""
    export, lines = folder / "conversations.json", folder / "lines.jsonl"
    with export.open("wb") as file:
        file.writelines(export_lines(messages))
    spaces = [f"bench-{new_id().lower()}" for _ in range(2)]
    yield await _imported("an export of Claude", url, spaces[0], export, messages)
    done = run(["export", str(lines), "--space", spaces[0], "--store", url], settings=_access())
    if done.returncode != 0:
        raise RuntimeError(done.stdout + done.stderr)
    yield await _imported("lines of our own export", url, spaces[1], lines, messages)


async def _imported(what: str, url: str, space: str, file: Path, messages: int) -> Imported:
    await open_space(settings_of(url), space)
    async with service(url, space) as server, httpx.AsyncClient(timeout=None, trust_env=False) as http:
        before, cpu = server.memory, server.cpu
        start = perf_counter()
        report = await _report(http, server.url, file)
        seconds = perf_counter() - start
        if report["messages"] != messages or report["skipped"]["count"]:
            raise RuntimeError(f"{what}: not all was imported: {report}")
        return Imported(
            what=what,
            messages=messages,
            seconds=seconds,
            cpu=server.cpu - cpu,
            before=before,
            peak=server.peak,
            at_least=AT_LEAST["sqlite" if url.startswith("sqlite") else "neo4j"],
        )


async def _report(http: httpx.AsyncClient, url: str, file: Path) -> Any:
    headers = {"Content-Type": "application/octet-stream"}
    async with http.stream("POST", f"{url}/import", content=_pieces(file), headers=headers) as response:
        last = [line async for line in response.aiter_lines()][-1]
    return orjson.loads(last)["report"]


async def _pieces(file: Path) -> AsyncIterator[bytes]:
    with file.open("rb") as stream:
        while piece := stream.read(_PIECE):
            yield piece


def _access() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("STELLO_NEO4J_")}


async def _all(url: str, folder: Path, messages: int) -> bool:
    head = f"{'messages':>9}{'rate':>12}{'at least':>11}{'cpu each':>12}{'before':>11}{'peak':>9}"
    print(f"{url.partition(':')[0]:<34}{head}")
    aside = folder / "warm-up"
    aside.mkdir()
    async for _ in measure(url, aside, min(messages, _WARM_UP)):
        continue
    is_met = True
    async for imported in measure(url, folder, messages):
        print(imported, flush=True)
        is_met = is_met and imported.is_met
    return is_met


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.imports", description="Measure imports over HTTP.")
    parser.add_argument("--store", default="sqlite", help="sqlite, neo4j (a server of its own), or a URL")
    parser.add_argument("--messages", type=int, default=100_000, help="default: %(default)s")
    parser.add_argument("--heap", default="1g", help="of a Neo4j of its own (default: %(default)s)")
    given = parser.parse_args()
    with store(given.store, given.heap) as url, tempfile.TemporaryDirectory(prefix="bench-") as folder:
        return int(not uvloop.run(_all(url, Path(folder), given.messages)))


if __name__ == "__main__":
    sys.exit(main())
