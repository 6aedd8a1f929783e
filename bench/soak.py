"""A mixed load for a long time on one server: do memory, file handles and connections stay as they were?

Called by `python -m bench.soak [--store URL] [--minutes 20] [--clients 16]`: see README.md.
"""

import argparse
import asyncio
import os
import random
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import psutil

from stello_graph.ids import new_id
from tests.e2e import documents
from tests.e2e.client import Client, Refused
from tests.e2e.processes import Server, Store, start

__all__ = ["Sample", "grown"]

_CONSOLIDATE = "mutation ($id: ID!) { consolidate(sessionId: $id) { memory } }"
_DELETE = "mutation ($id: ID!, $count: Int!) { deleteSession(id: $id, expectedCount: $count) }"
_DIGESTS = "query ($id: ID!) { digests(rootId: $id) { nodes { id memory } eventSeq } }"
_MAP = "query ($id: ID!) { starMap(rootId: $id) { columns eventSeq } }"
_RECORD = "mutation ($key: String!, $value: JSON!) { putRecord(key: $key, value: $value) { revision } }"
_SEARCH = "query ($text: String!) { search(query: $text) { snippet } }"
_WATCH = "subscription ($root: ID!) { topologyEvents(rootId: $root) { seq type } }"
# A client's tree is deleted at this size and begun anew, so that the store does not grow with time.
_TREE = 20
_MIB = 2**20


@dataclass(frozen=True)
class Sample:
    """One look at the server's process."""

    minutes: float
    done: int
    memory: float
    handles: int
    connections: int


@dataclass
class Soak:
    """So many clients, each with a tree of its own, until the time is over."""

    server: Server
    until: float
    done: int = 0
    refused: Counter[str] = field(default_factory=Counter)
    took: list[float] = field(default_factory=list)

    async def client(self, number: int) -> None:
        chance = random.Random(number)
        async with self.server.client() as client:
            while time.monotonic() < self.until:
                await self._tree(client, chance)

    async def _tree(self, client: Client, chance: random.Random) -> None:
        root = await client.create(f"soak-{new_id()}", label="Soak")
        watching = asyncio.create_task(_watch(client, root))
        ids = [root]
        while len(ids) < _TREE and time.monotonic() < self.until:
            began = time.perf_counter()
            try:
                await chance.choice(_STEPS)(client, ids, chance)
                self.done += 1
            except Refused as error:
                self.refused[error.code] += 1
            self.took.append(time.perf_counter() - began)
        watching.cancel()
        await asyncio.gather(watching, return_exceptions=True)
        await client.ask(_DELETE, id=root, count=len(ids))

    async def watch(self, every: float, tell: Callable[[str], None]) -> list[Sample]:
        """Looks at the process until the time is over."""
        process, began, samples = psutil.Process(self.server.process.pid), time.monotonic(), list[Sample]()
        while time.monotonic() < self.until:
            await asyncio.sleep(every)
            sample = Sample(
                minutes=(time.monotonic() - began) / 60,
                done=self.done,
                memory=process.memory_info().rss / _MIB,
                handles=process.num_fds(),
                connections=len(process.net_connections("tcp")),
            )
            samples.append(sample)
            slowest = sorted(self.took)[len(self.took) * 99 // 100] if self.took else 0.0
            self.took.clear()
            tell(
                f"{sample.minutes:5.1f} min {sample.done:8} done {sample.memory:7.1f} MiB "
                f"{sample.handles:4} handles {sample.connections:4} connections, "
                f"99 % within {1_000 * slowest:.0f} ms"
            )
        return samples


async def _watch(client: Client, root: str) -> None:
    async for _ in client.subscribe(_WATCH, root=root):
        pass


async def _create(client: Client, ids: list[str], chance: random.Random) -> None:
    ids.append(await client.create(f"soak-{new_id()}", parentId=chance.choice(ids)))


async def _fork(client: Client, ids: list[str], chance: random.Random) -> None:
    source = chance.choice(ids)
    asked = {"sourceSessionId": source, "label": "Fork", "context": "INHERIT"}
    ids.append((await client.ask(documents.FORK, input=asked))["fork"]["id"])


async def _send(client: Client, ids: list[str], chance: random.Random) -> None:
    await client.send(chance.choice(ids), "What is next? " * chance.randint(1, 50))


async def _follow(client: Client, ids: list[str], chance: random.Random) -> None:
    turn = await client.start(chance.choice(ids), "Tell me more.")
    await client.events(turn["id"])


async def _leave(client: Client, ids: list[str], chance: random.Random) -> None:
    turn = await client.start(chance.choice(ids), "Who listens?")
    with suppress(TimeoutError):
        async with asyncio.timeout(0.02):
            await client.events(turn["id"])
    await client.events(turn["id"])


async def _consolidate(client: Client, ids: list[str], chance: random.Random) -> None:
    await client.ask(_CONSOLIDATE, id=chance.choice(ids))


async def _put(client: Client, ids: list[str], chance: random.Random) -> None:
    await client.ask(documents.INSIGHT, id=chance.choice(ids), content="Look at the others.")
    await client.ask(_RECORD, key=f"soak.{chance.randint(1, 100)}", value=chance.random())


async def _read(client: Client, ids: list[str], chance: random.Random) -> None:
    await client.ask(documents.CHILDREN, id=chance.choice(ids))
    await client.ask(_MAP, id=ids[0])
    await client.ask(_DIGESTS, id=ids[0])
    await client.transcript(chance.choice(ids), last=50)
    await client.ask(documents.PREVIEW, id=chance.choice(ids), content="And now?")


async def _search(client: Client, ids: list[str], chance: random.Random) -> None:
    await client.ask(_SEARCH, text=chance.choice(("next", "soak", "more")))


_STEPS: Sequence[Callable[[Client, list[str], random.Random], Awaitable[Any]]] = (
    *(_create, _fork, _send, _send, _follow, _leave, _consolidate, _put, _read, _read, _search),
)


def grown(samples: Sequence[Sample]) -> list[str]:
    """What grew from the second quarter of the time to the last, in sentences; the first is warm-up."""
    quarter = len(samples) // 4
    early, late = samples[quarter : 2 * quarter], samples[-quarter:]
    found = []
    for name, allowed in (("memory", 16.0), ("handles", 8.0), ("connections", 8.0)):
        before, after = (median(getattr(one, name) for one in part) for part in (early, late))
        if after > before * 1.1 + allowed:
            found.append(f"{name} grew from {before:.0f} to {after:.0f}")
    return found


async def soak(server: Server, minutes: float, clients: int, every: float) -> list[str]:
    """Runs the load; what grew, or failed."""
    running = Soak(server, until=time.monotonic() + 60 * minutes)
    watching = asyncio.create_task(running.watch(every, lambda line: print(line, flush=True)))
    async with asyncio.TaskGroup() as group:
        for number in range(clients):
            group.create_task(running.client(number))
    print(f"refused: {dict(running.refused)}")
    return grown(await watching)


def main() -> int:
    parser = argparse.ArgumentParser(description="A mixed load for a long time.")
    parser.add_argument("--store", help="default: a SQLite file of its own")
    parser.add_argument("--minutes", type=float, default=20.0)
    parser.add_argument("--clients", type=int, default=16)
    parser.add_argument("--every", type=float, default=15.0, help="seconds between two lines")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="soak-") as folder:
        store = Store(given.store or f"sqlite:///{folder}/soak.db", dict(os.environ))
        server = start(store, Path(folder) / "server.log", settings={"STELLO_MODEL_PROVIDER": "offline"})
        try:
            server.wait_ready()
            found = asyncio.run(soak(server, given.minutes, given.clients, given.every))
        finally:
            server.close()
    print("\n".join(found) or "flat: memory, file handles, connections")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
