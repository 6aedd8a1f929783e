"""What is asked of the storage about the events of the map."""

from collections.abc import Callable, Sequence
from typing import Protocol

from stello_graph.model.topology import EventPage

__all__ = ["EventSource", "EventStore"]


class EventStore(Protocol):
    """The events of one Space."""

    async def events(self, after: int, first: int) -> EventPage:
        """The events after a number, the oldest first, as far as they are there without a gap.

        Empty though there are newer ones: the next was pruned, or is not to be seen for some moments yet.
        """
        ...

    async def prune_events(self, through: int) -> None:
        """Removes events up to a number, never the newest one."""
        ...


class EventSource(Protocol):
    """The events of all Spaces."""

    async def newest_events(self, space_ids: Sequence[str]) -> dict[str, int]:
        """By Space, the number of its newest event."""
        ...

    async def old_events(self, age: float, *, after: str, first: int, limit: int) -> list[tuple[str, int]]:
        """A page of the Spaces after id `after`, with the number through which events can be pruned.

        Args:
            age: in seconds; what is younger stays, and so does the newest.
            limit: how many events of a Space that number takes in at most.

        Returns:
            Of each Space its id and the number, 0 where nothing is to go.
        """
        ...

    def on_event(self, wake: Callable[[str], None]) -> None:
        """Calls `wake` with the Space's id after each write of this store that may leave an event."""
        ...
