"""How soon the machine forgets: what each request pays where one comes only now and then.

On some hosts the processor's caches are emptied within a few milliseconds in which a process does nothing:
by their other guests, by the hypervisor. A request that comes after a pause then takes several times as
long as one of many in a row, the more so the more memory it looks at.
"""

from random import Random
from statistics import median
from time import perf_counter
from typing import Final, NamedTuple

__all__ = ["Caches", "measure_caches"]

_OBJECTS: Final = 4_096
_PAUSE: Final = 0.003
_TIMES: Final = 100


class Caches(NamedTuple):
    """Microseconds of a walk over 4,096 objects in no order, some 160 kB.

    Attributes:
        in_a_row: right after the walk before.
        after_a_pause: after 3 ms in which only the clock was looked at.
    """

    in_a_row: float
    after_a_pause: float

    def __str__(self) -> str:
        return (
            f"caches: a walk over {_OBJECTS:,} objects takes {self.in_a_row:.0f} µs in a row, "
            f"{self.after_a_pause:.0f} µs after a pause of {1_000 * _PAUSE:.0f} ms"
        )


def measure_caches() -> Caches:
    """Walks in a row and with pauses, in turns; the medians."""
    following = _circle()
    in_a_row, after_a_pause = [], []
    for _ in range(_TIMES):
        _walked(following)
        in_a_row.append(_walked(following))
        _pause()
        after_a_pause.append(_walked(following))
    return Caches(median(in_a_row), median(after_a_pause))


def _circle() -> list[int]:
    order = list(range(_OBJECTS))
    Random(1).shuffle(order)
    following = [0] * _OBJECTS
    for one, other in zip(order, order[1:] + order[:1], strict=True):
        following[one] = other
    return following


def _walked(following: list[int]) -> float:
    at, begun = 0, perf_counter()
    for _ in range(_OBJECTS):
        at = following[at]
    return 1_000_000 * (perf_counter() - begun)


def _pause() -> None:
    end = perf_counter() + _PAUSE
    while perf_counter() < end:
        pass
