"""How many turns of a Space may run at once in this process."""

import asyncio
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from stello_graph.errors import LimitExceeded
from stello_graph.forest.live import LiveTurn
from stello_graph.ports import SpaceStore

__all__ = ["Slot", "Slots", "is_busy"]


class Slot:
    """The place of one turn, from before it begins until it is over."""

    def __init__(self, taken: "Callable[[], set[Slot]]") -> None:
        self._taken = taken
        self._over: asyncio.Event | None = None

    @property
    def is_kept(self) -> bool:
        """Whether a turn has it."""
        return self._over is not None

    @property
    def is_over(self) -> bool:
        """Whether its turn is over: its callers know, though its task may still have a moment to go."""
        return self._over is not None and self._over.is_set()

    def keep_until(self, over: asyncio.Event, work: "asyncio.Task[None]") -> None:
        """Keeps the place until `over`, in place of the block that took it; `work` ends soon after."""
        self._over = over
        taken = self._taken()
        taken.add(self)
        work.add_done_callback(lambda _: taken.discard(self))


class Slots:
    """The places of all Spaces; a Space without turns costs nothing for long."""

    def __init__(self, most: int) -> None:
        """At most so many turns of one Space."""
        self._most = most
        self._taken: dict[str, set[Slot]] = {}

    def are_taken(self, space_id: str) -> bool:
        """Whether a Space has no place for a new turn."""
        return sum(not slot.is_over for slot in self._of(space_id)) >= self._most

    @contextmanager
    def one(self, space_id: str, *, busy: bool) -> Iterator[Slot]:
        """Takes a place, for this block or as long as the turn runs that it begins.

        Args:
            busy: whether a turn of the session runs here, so that probably none begins: then a place is
                taken only once one did, even beyond the limit.

        Raises:
            LimitExceeded: so many turns of the Space run or begin; retryable.
        """
        taken = self._of(space_id)
        slot = Slot(lambda: self._of(space_id))
        if not busy:
            if self.are_taken(space_id):
                raise LimitExceeded(
                    f"{self._most} turns of this Space run already; wait until one of them has ended",
                    retryable=True,
                )
            taken.add(slot)
        try:
            yield slot
        finally:
            if not slot.is_kept:
                taken.discard(slot)

    def _of(self, space_id: str) -> set[Slot]:
        if space_id not in self._taken:
            self._taken = {space: taken for space, taken in self._taken.items() if taken}
        return self._taken.setdefault(space_id, set())


def is_busy(lives: Iterable[LiveTurn], store: SpaceStore, session_id: str) -> bool:
    """Whether one of these turns runs in a session."""
    return any(
        live.turn.session_id == session_id
        and live.store.space_id == store.space_id
        and not live.over.is_set()
        for live in lives
    )
