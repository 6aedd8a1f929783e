"""The raw contestants, in a process of their own.

    python -m bench.raw SPACE NODES MESSAGES

Reads orders, one JSON a line, and answers each with one. Its first line names the port of a server
that answers every request with the same bytes: what the HTTP client can do at most.
"""

import asyncio
import os
import sys
import time
from collections.abc import Awaitable, Callable, Sized
from dataclasses import asdict, replace
from typing import Any, cast

import orjson
import uvloop

from bench.drive import Measured, drive
from bench.forest import Forest
from bench.items import ITEMS, Contestant
from bench.raw_reads import RawReads
from bench.raw_writes import RawWrites
from bench.statements import open_driver, settings_of

_CANNED = b'HTTP/1.1 200 OK\r\nContent-Length: 34\r\n\r\n{"data":{"__typename":"Query"}}   '


class _Canned(asyncio.Protocol):
    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # Not isinstance: uvloop's transports are no subclass.
        self._transport = cast(asyncio.Transport, transport)

    def data_received(self, data: bytes) -> None:
        self._transport.write(_CANNED)


class _Raw:
    def __init__(self, reads: RawReads, writes: RawWrites, forest: Forest) -> None:
        self._reads = reads
        self._writes = writes
        self._forest = forest

    async def measure(
        self, letter: str, contestant: Contestant, concurrency: int, seconds: float
    ) -> Measured:
        ask = self._writer(letter) if ITEMS[letter].writes else await self._reader(letter, contestant)
        before = time.process_time()
        measured = await drive(ask, concurrency, seconds)
        return replace(measured, cpu=time.process_time() - before)

    def _writer(self, letter: str) -> Callable[[int], Awaitable[None]]:
        return {"f": self._writes.turn, "g": self._writes.fork}[letter]

    async def _reader(self, letter: str, contestant: Contestant) -> Callable[[int], Awaitable[None]]:
        """Checks one answer in whole; that the others are as long is checked as they come."""
        item = ITEMS[letter]
        read = self._reads.tx if contestant == "raw-tx" else self._reads.best
        first: Sized = await read(letter, item)
        if item.raw_rows(first) != item.expected(self._forest):
            raise RuntimeError(f"{contestant} answers {letter} with something else")

        async def ask(_number: int) -> None:
            if len(await read(letter, item)) != len(first):
                raise RuntimeError(f"{contestant} does not always answer {letter} alike")

        return ask


async def main(space: str, nodes: int, messages: int) -> None:
    settings = settings_of(os.environ["STELLO_STORE"])
    loop = asyncio.get_running_loop()
    server = await loop.create_server(_Canned, "127.0.0.1", 0)
    _say({"port": server.sockets[0].getsockname()[1]})
    async with server, open_driver(settings) as driver:
        asked = driver, settings.neo4j_database, space
        raw = _Raw(RawReads(*asked), RawWrites(*asked), Forest(nodes, messages))
        while line := await loop.run_in_executor(None, sys.stdin.readline):
            _say(asdict(await raw.measure(**orjson.loads(line))))


def _say(answer: dict[str, Any]) -> None:
    print(orjson.dumps(answer).decode(), flush=True)


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1], *map(int, sys.argv[2:])))
