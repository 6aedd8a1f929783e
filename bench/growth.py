"""The same operations on a small store and on a big one, side by side: what grows with the store?

Called by `python -m bench.growth [--store sqlite] [--nodes 1000000] [--messages 100000]`: see README.md.
"""

import argparse
import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from statistics import median

import orjson
import uvloop

from bench.drive import drive
from bench.growing import OPERATIONS, Ask, Inherit
from bench.http_client import Client, request
from bench.planting import plant
from bench.processes import Service, service, store
from bench.statements import settings_of
from bench.wide import Wide
from stello_graph.bootstrap import open_engine
from stello_graph.ids import new_id
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.service import SpaceService, StelloGraph
from stello_graph.store.store import GraphStore

__all__ = ["Growth", "Plan", "Row", "grow"]

_MAP = request("/graphql", {"query": "{ starMap { nodeCount columns } }"})


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is planted and how long is measured; each pair is small and big.

    Attributes:
        messages: of the session that is appended to and read.
        inherited: messages of the sessions that are forked with their context.
        maps: nodes of the maps.
    """

    nodes: tuple[int, int] = (2_000, 1_000_000)
    messages: tuple[int, int] = (100, 100_000)
    inherited: tuple[int, int] = (10, 10_000)
    maps: tuple[int, int] = (20_000, 100_000)
    rounds: int = 5
    seconds: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Row:
    """One line of the budget.

    Attributes:
        small: milliseconds of one, round by round.
        big: likewise.
        per: by how much the big one may take longer without growing: rows, where there are more of them.
    """

    what: str
    small: Sequence[float]
    big: Sequence[float]
    at_most: float
    per: float = 1.0

    @property
    def ratios(self) -> list[float]:
        return [big / small / self.per for small, big in zip(self.small, self.big, strict=True)]

    @property
    def is_met(self) -> bool:
        return median(self.ratios) <= self.at_most

    def __str__(self) -> str:
        ratios = self.ratios
        return (
            f"{self.what:<42}{median(self.small):9.2f} ms{median(self.big):9.2f} ms  {median(ratios):7.2f}"
            f" {min(ratios):7.2f}-{max(ratios):7.2f}{self.at_most:9.2f}{'' if self.is_met else '  MISSED'}"
        )


@dataclass(frozen=True)
class Growth:
    """All rows, and the memory of the server that answered with the big map."""

    rows: Sequence[Row]
    memory: float
    memory_at_most: float = 300.0

    @property
    def is_met(self) -> bool:
        return self.memory <= self.memory_at_most and all(row.is_met for row in self.rows)

    def __str__(self) -> str:
        head = f"{'':42}{'small':>12}{'big':>12}  {'times':>7} {'spread':>15}{'at most':>9}"
        missed = "  MISSED" if self.memory > self.memory_at_most else ""
        memory = (
            f"{'memory of the server after the big map':<54}{self.memory:9.0f} MB"
            f"{self.memory_at_most:34.0f}{missed}"
        )
        return "\n".join([head, *map(str, self.rows), memory])


async def grow(small_url: str, big_url: str, plan: Plan) -> Growth:
    """Plants, measures each operation on both stores in turns, then the maps. What is planted stays."""
    small = Wide(_space(), plan.nodes[0], {2: plan.messages[0]})
    big = Wide(_space(), plan.nodes[1], {2: plan.messages[1], 3: plan.inherited[0], 4: plan.inherited[1]})
    maps = [Wide(_space(), nodes) for nodes in plan.maps]
    for url, wide in ((small_url, small), (big_url, big), *((big_url, one) for one in maps)):
        print(f"planting {wide.nodes} nodes", file=sys.stderr, flush=True)
        await plant(url, wide)
    async with _opened(small_url, small) as in_small, _opened(big_url, big) as in_big:
        rows = [
            await _row(what, one(in_small, small), one(in_big, big), plan) for what, one in OPERATIONS.items()
        ]
        few, many = (Inherit(in_big, number, big.talks[number]) for number in (3, 4))
        rows.append(await _row(_inherit(plan), few, many, plan, at_most=150.0))
    async with _served(big_url, maps[0]) as (_, one), _served(big_url, maps[1]) as (server, other):
        asks = await _map_of(one, maps[0]), await _map_of(other, maps[1])
        per = plan.maps[1] / plan.maps[0]
        rows.append(await _row(_of_maps(plan), *asks, plan, per=per))
        return Growth(rows, server.peak)


async def _row(what: str, small: Ask, big: Ask, plan: Plan, *, at_most: float = 1.5, per: float = 1.0) -> Row:
    """Each in turns, and who begins changes. The first round is thrown away."""
    print(f"measuring {what}", file=sys.stderr, flush=True)
    took: tuple[list[float], list[float]] = [], []
    for number in range(plan.rounds + 1):
        for which in (0, 1) if number % 2 else (1, 0):
            done = await drive((small, big)[which], 1, plan.seconds)
            took[which].append(1_000 / done.rate)
    return Row(what=what, small=took[0][1:], big=took[1][1:], at_most=at_most, per=per)


@asynccontextmanager
async def _opened(url: str, wide: Wide) -> AsyncIterator[SpaceService]:
    settings = settings_of(url)
    async with StelloGraph(GraphStore(open_engine(settings)), ScriptedLLM(), settings) as graph:
        yield graph.space(wide.space)


@asynccontextmanager
async def _served(url: str, wide: Wide) -> AsyncIterator[tuple[Service, Client]]:
    async with service(url, wide.space) as server, Client(server.port) as client:
        yield server, client


async def _map_of(client: Client, wide: Wide) -> Ask:
    """Asks for the whole map over HTTP; the first answer is checked, the others are as long."""
    first = await client.fetch(_MAP)
    found = orjson.loads(first)["data"]["starMap"]
    assert found["nodeCount"] == len(found["columns"]["id"]) == wide.nodes, found["nodeCount"]

    async def ask(_number: int) -> None:
        assert len(await client.fetch(_MAP)) == len(first)

    return ask


def _space() -> str:
    return f"bench-{new_id().lower()}"


def _inherit(plan: Plan) -> str:
    return f"fork, INHERIT of {plan.inherited[0]:,} and {plan.inherited[1]:,}"


def _of_maps(plan: Plan) -> str:
    return f"starMap a node, {plan.maps[0]:,} and {plan.maps[1]:,}"


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.growth", description="Does time grow with size?")
    parser.add_argument(
        "--store",
        nargs="+",
        default=["sqlite"],
        help="sqlite, neo4j (two of their own), or two URLs, small and big (default: sqlite)",
    )
    parser.add_argument("--nodes", type=int, default=1_000_000, help="default: %(default)s")
    parser.add_argument("--messages", type=int, default=100_000, help="default: %(default)s")
    parser.add_argument("--inherited", type=int, default=10_000, help="default: %(default)s")
    parser.add_argument("--maps", default="20000,100000", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="that count (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=1.0, help="of a run (default: %(default)s)")
    parser.add_argument("--heap", default="2g", help="of a Neo4j of its own (default: %(default)s)")
    given = parser.parse_args()
    if len(given.store) > 2 or (len(given.store) == 1 and given.store[0] not in ("sqlite", "neo4j")):
        parser.error("--store is sqlite, neo4j, or two URLs: what is in one store makes the other big")
    return given


def main() -> int:
    given = parsed()
    few, many = map(int, given.maps.split(","))
    plan = Plan(
        nodes=(2_000, given.nodes),
        messages=(100, given.messages),
        inherited=(10, given.inherited),
        maps=(few, many),
        rounds=given.rounds,
        seconds=given.seconds,
    )
    with ExitStack() as stack:
        small, big = (stack.enter_context(store(one, given.heap)) for one in (given.store * 2)[:2])
        found = uvloop.run(grow(small, big, plan))
    (few, many), (short, long) = plan.nodes, plan.messages
    print(
        f"{big.partition(':')[0]}: {few:,} and {many:,} nodes; {short:,} and {long:,} messages in a session"
    )
    print(found)
    return int(not found.is_met)


if __name__ == "__main__":
    sys.exit(main())
