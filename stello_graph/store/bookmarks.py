"""Bookmarks: what a read of a Space has to see is what this process has written to it.

A cluster answers reads by followers, which lag behind. A bookmark names a transaction; a server that is
given one waits until it has seen it. What one Space wrote is of no concern to the reads of another.
"""

from collections import OrderedDict
from collections.abc import Set

__all__ = ["Bookmarks"]


class Bookmarks:
    """The last bookmarks of each Space, of the Spaces written to most recently."""

    def __init__(self, spaces: int = 10_000) -> None:
        """Remembers so many Spaces at most: with the others a follower has long caught up."""
        self._spaces = spaces
        self._last: OrderedDict[str, frozenset[str]] = OrderedDict()

    def of(self, space_id: str) -> frozenset[str]:
        """What a query of the Space has to wait for."""
        return self._last.get(space_id, frozenset())

    def written(self, space_id: str, before: Set[str], now: Set[str]) -> None:
        """Takes the bookmarks of a write in the place of those that it was based on."""
        self._last[space_id] = (self.of(space_id) - before) | now
        self._last.move_to_end(space_id)
        while len(self._last) > self._spaces:
            self._last.popitem(last=False)

    def forget(self) -> None:
        """Forgets all: the database does not know them, so it is another one or an older state."""
        self._last.clear()
