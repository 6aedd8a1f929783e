"""How much is held at a time: as many things as weigh so many bytes, since one may weigh a megabyte."""

from typing import Any, Final

from stello_graph.model.values import Value

__all__ = ["MOST_BYTES", "MOST_MESSAGES", "Pace", "weight"]

MOST_BYTES: Final = 8 << 20
MOST_MESSAGES: Final = 2_000
_FASTER: Final = 4


class Pace:
    """How many to read next, by what those before weighed.

    Attributes:
        size: of the next page.
    """

    def __init__(self, first: int, most: int) -> None:
        self.size = first
        self._most = most

    def weighed(self, page: list[Any]) -> None:
        """Tells it what a page held that has something."""
        fit = len(page) * MOST_BYTES // max(weight(page), 1)
        self.size = max(1, min(fit, _FASTER * self.size, self._most))


def weight(value: Any) -> int:
    """About how many bytes a value has as a line."""
    match value:
        case str():
            return len(value)
        case Value():
            return sum(map(weight, vars(value).values()))
        case dict():
            return sum(map(weight, value)) + sum(map(weight, value.values()))
        case list() | tuple():
            return sum(map(weight, value))
    return 8
