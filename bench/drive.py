"""Load: so many callers, each asking again as soon as it was answered."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from itertools import count
from time import perf_counter

__all__ = ["Measured", "drive"]


@dataclass(frozen=True, kw_only=True)
class Measured:
    """What was done in one run.

    Attributes:
        cpu: seconds of processor time of the contestant's own process.
    """

    done: int
    seconds: float
    median_ms: float
    cpu: float = 0.0

    @property
    def rate(self) -> float:
        return self.done / self.seconds


async def drive(ask: Callable[[int], Awaitable[None]], concurrency: int, seconds: float) -> Measured:
    """Calls `ask` with a running number until the time is over; what was begun is finished and counts."""
    numbers, took = count(), list[float]()
    start = perf_counter()
    until = start + seconds

    async def caller() -> None:
        now = perf_counter()
        while now < until:
            await ask(next(numbers))
            before, now = now, perf_counter()
            took.append(now - before)

    async with asyncio.TaskGroup() as group:
        for _ in range(concurrency):
            group.create_task(caller())
    elapsed = perf_counter() - start
    return Measured(done=len(took), seconds=elapsed, median_ms=1_000 * sorted(took)[len(took) // 2])
