"""Rounds: every item by every contestant, one after the other, so that a slow moment hits all."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from bench.beside import Beside
from bench.drive import Measured
from bench.items import ITEMS, Contestant
from bench.ours import Ours
from bench.peers import PEER_ITEMS
from bench.processes import RawProcess
from bench.seed import Seed

__all__ = ["Plan", "Results", "measure_rounds"]


@dataclass(frozen=True, kw_only=True)
class Plan:
    """What is to be measured."""

    items: Sequence[str]
    concurrency: Sequence[int]
    rounds: int
    seconds: float
    has_peer: bool = False

    def contestants(self, letter: str) -> tuple[Contestant, ...]:
        """Who is asked for an item; the peer only reads."""
        peers: tuple[Contestant, ...] = ("peer",) if self.has_peer and letter in PEER_ITEMS else ()
        return ITEMS[letter].contestants + peers

    def runs(self, turn: int) -> Iterator[tuple[str, int, Contestant]]:
        """The runs of a round; the contestants' order turns from round to round."""
        for concurrency in self.concurrency:
            for letter in self.items:
                contestants = self.contestants(letter)
                start = turn % len(contestants)
                for contestant in contestants[start:] + contestants[:start]:
                    yield letter, concurrency, contestant


@dataclass
class Results:
    """The runs that count, in the order of rounds."""

    runs: dict[tuple[str, int, Contestant], list[Measured]] = field(default_factory=dict)

    def rate(self, letter: str, concurrency: int, contestant: Contestant) -> float:
        return median(run.rate for run in self.runs[letter, concurrency, contestant])

    def cpu_ms(self, letter: str, concurrency: int, contestant: Contestant) -> float:
        """Processor time of the contestant's process for one answer; a busy machine blurs it least."""
        return median(1_000 * run.cpu / run.done for run in self.runs[letter, concurrency, contestant])

    def ratios(self, letter: str, concurrency: int, against: Contestant) -> list[float]:
        pairs = zip(
            self.runs[letter, concurrency, "ours"], self.runs[letter, concurrency, against], strict=True
        )
        return [ours.rate / theirs.rate for ours, theirs in pairs]


async def measure_rounds(
    plan: Plan,
    ours: Ours,
    raw: RawProcess,
    beside: Mapping[Contestant, Beside],
    seed: Seed,
    say: Callable[[str], None],
) -> Results:
    """All rounds. The first is thrown away: a fresh Neo4j is several times slower until it is warm."""
    results = Results()
    for number in range(plan.rounds + 1):
        say("warming up" if number == 0 else f"round {number} of {plan.rounds}")
        for letter, concurrency, contestant in plan.runs(number):
            item = ITEMS[letter]
            if contestant == "ours":
                measured = await ours.measure(item, concurrency, plan.seconds)
            elif contestant in beside:
                measured = await beside[contestant].measure(letter, concurrency, plan.seconds)
            else:
                measured = await raw.measure(letter, contestant, concurrency, plan.seconds)
            if item.writes:
                _check(letter, contestant, measured.done, await seed.reset())
            if number:
                results.runs.setdefault((letter, concurrency, contestant), []).append(measured)
    return results


def _check(letter: str, contestant: Contestant, done: int, stored: tuple[int, int, int]) -> None:
    wanted = (done, 2 * done, 0) if letter == "f" else (0, 0, done)
    if stored != wanted:
        raise RuntimeError(f"{contestant} said {wanted} of {letter}, stored are {stored}")
