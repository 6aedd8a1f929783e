"""What small reads cost on the embedded engine, beside a request that reads nothing.

Called by `python -m bench.embedded [--rounds 5] [--seconds 2]`: see README.md.
"""

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median

import orjson
import uvloop

from bench.beside import same_answers
from bench.drive import drive
from bench.http_client import Client, request
from bench.items import ITEMS
from bench.planting import plant
from bench.processes import Service, service, store
from bench.wide import Wide, node_id
from stello_graph.ids import new_id

__all__ = ["Cost", "Row", "measure"]

AT_MOST = 2.0
_EMPTY = "{ __typename }"
_MESSAGES = 200


@dataclass(frozen=True)
class Read:
    """A request.

    Attributes:
        at_most: how many times the empty request it may cost; None: it is no small read.
    """

    document: str
    id: str | None = None
    at_most: float | None = None

    @property
    def request(self) -> bytes:
        return request("/graphql", {"query": self.document, "variables": {"id": self.id} if self.id else {}})


_READS = {
    _EMPTY: Read(_EMPTY),
    "getChildren, 8 rows": Read(ITEMS["a"].document, node_id(1), AT_MOST),
    "one session": Read("query($id: ID!) { session(id: $id) { id label status } }", node_id(1), AT_MOST),
    "newest 50 messages": Read(ITEMS["d"].document, node_id(2)),
}


@dataclass(frozen=True)
class Cost:
    """Of one request, in milliseconds."""

    took: float
    cpu: float


@dataclass(frozen=True, kw_only=True)
class Row:
    """A read beside the empty request, round by round."""

    what: str
    costs: Sequence[Cost]
    empty: Sequence[Cost]
    at_most: float | None

    @property
    def times(self) -> tuple[float, float]:
        """By throughput and by processor time."""
        pairs = list(zip(self.costs, self.empty, strict=True))
        return (
            median(one.took / empty.took for one, empty in pairs),
            median(one.cpu / empty.cpu for one, empty in pairs),
        )

    @property
    def is_met(self) -> bool:
        return self.at_most is None or max(self.times) <= self.at_most

    def __str__(self) -> str:
        took, cpu = (median(getattr(cost, name) for cost in self.costs) for name in ("took", "cpu"))
        by_rate, by_cpu = self.times
        at_most = "" if self.at_most is None else f"{self.at_most:.2f}"
        return (
            f"{self.what:<28}{1_000 / took:10.1f}/s{by_rate:9.2f}{cpu:12.2f} ms{by_cpu:9.2f}{at_most:>10}"
            f"{'' if self.is_met else '  MISSED'}"
        )


async def measure(url: str, rounds: int, seconds: float) -> list[Row]:
    """All requests in turns on one connection; the first round is thrown away."""
    wide = Wide(f"bench-{new_id().lower()}", 2_000, {2: _MESSAGES})
    await plant(url, wide)
    costs: dict[str, list[Cost]] = {what: [] for what in _READS}
    async with service(url, wide.space) as server, Client(server.port) as client:
        for _ in range(rounds + 1):
            for what, read in _READS.items():
                costs[what].append(await _cost(server, client, read.request, seconds))
    return [
        Row(what=what, costs=costs[what][1:], empty=costs[_EMPTY][1:], at_most=read.at_most)
        for what, read in _READS.items()
    ]


async def _cost(server: Service, client: Client, wanted: bytes, seconds: float) -> Cost:
    ask = await same_answers(client, wanted, _check)
    before = server.cpu
    done = await drive(ask, 1, seconds)
    return Cost(1_000 / done.rate, 1_000 * (server.cpu - before) / done.done)


def _check(body: bytes) -> None:
    answer = orjson.loads(body)
    if "errors" in answer or None in answer["data"].values():
        raise RuntimeError(body.decode())


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.embedded", description="What do small reads cost?")
    parser.add_argument("--rounds", type=int, default=5, help="that count (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=2.0, help="of a run (default: %(default)s)")
    given = parser.parse_args()
    with store("sqlite", heap="") as url:
        rows = uvloop.run(measure(url, given.rounds, given.seconds))
    print(f"{'':28}{'answers':>12}{'times':>9}{'cpu':>15}{'times':>9}{'at most':>10}")
    print("\n".join(map(str, rows)))
    return int(not all(row.is_met for row in rows))


if __name__ == "__main__":
    sys.exit(main())
