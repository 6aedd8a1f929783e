"""Places of which each Space has a number in this process: of subscriptions, of sockets."""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from stello_graph.errors import LimitExceeded

__all__ = ["Places"]


class Places:
    """The places of all Spaces; one that has none taken costs nothing."""

    def __init__(self, most: int, what: str) -> None:
        """At most so many of `what` of one Space."""
        self._most = most
        self._what = what
        self._taken: Counter[str] = Counter()

    @contextmanager
    def one(self, space_id: str) -> Iterator[None]:
        """Takes a place for the block. Raises LimitExceeded, retryable, where none is free."""
        self.take(space_id)
        try:
            yield
        finally:
            self.free(space_id)

    def take(self, space_id: str) -> None:
        """Takes a place until it is freed. Raises LimitExceeded, retryable, where none is free."""
        if self._taken[space_id] >= self._most:
            raise LimitExceeded(
                f"this Space has {self._most} {self._what} open already here; close one of them",
                retryable=True,
            )
        self._taken[space_id] += 1

    def free(self, space_id: str) -> None:
        """Frees a place that was taken."""
        self._taken[space_id] -= 1
        if not self._taken[space_id]:
            del self._taken[space_id]
