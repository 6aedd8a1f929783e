"""The tool calls of a transcript that wait for their results."""

from collections import defaultdict, deque
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

__all__ = ["OpenCalls"]

C = TypeVar("C")


@dataclass(slots=True)
class _Waiting(Generic[C]):
    call: C
    is_answered: bool = False


class OpenCalls(Generic[C]):
    """For each key of a call a stack of rows, each of one message.

    A call that is answered leaves its other rows when it comes first there: each is passed over once.
    """

    def __init__(self) -> None:
        self._rows: defaultdict[Hashable, list[tuple[Any, deque[_Waiting[C]]]]] = defaultdict(list)

    def add(self, message: Any, call: C, *keys: Hashable) -> None:
        """Adds a call of `message`, to be found by any of `keys`. The calls of one message come together."""
        waiting = _Waiting(call)
        for key in dict.fromkeys(keys):
            rows = self._rows[key]
            if not rows or rows[-1][0] is not message:
                rows.append((message, deque()))
            rows[-1][1].append(waiting)

    def take(self, key: Hashable, is_above: Callable[[Any], bool] = lambda message: True) -> C | None:
        """The first of the latest message that has one of that key, which then waits no more.

        Args:
            is_above: whether a message is before the result. One that is not is forgotten: it has to be
                above no later one either, as where a branch has ended.
        """
        rows = self._rows.get(key, [])
        while rows:
            message, row = rows[-1]
            while row and is_above(message):
                waiting = row.popleft()
                if not waiting.is_answered:
                    waiting.is_answered = True
                    return waiting.call
            rows.pop()
        return None
