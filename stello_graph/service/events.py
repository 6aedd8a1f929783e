"""What happened on the map, and what happens."""

from collections.abc import AsyncGenerator, Sequence

from stello_graph.forest.events import follow_events, past_events
from stello_graph.forest.watch import Watch
from stello_graph.ids import check_id
from stello_graph.model.checks import check_page, check_range
from stello_graph.model.topology import TopologyEvent
from stello_graph.ports import SpaceStore

__all__ = ["EventService"]

_LAST = 2**53


class EventService:
    """The part of a SpaceService that needs the store and the watchers."""

    store: SpaceStore
    _watch: Watch

    async def past_events(self, after: int, first: int = 500) -> Sequence[TopologyEvent]:
        """A page of the events after a number, the oldest first.

        Raises:
            InvalidInput: there is no event of number `after` yet.
            LimitExceeded: the next ones were pruned; take a fresh `star_map` of the store.
        """
        return await past_events(
            self.store, check_range(after, "after", 0, _LAST), check_page(first, "first")
        )

    def events(
        self, after: int | None = None, root_id: str | None = None
    ) -> AsyncGenerator[TopologyEvent, None]:
        """Every event after a number, in order, exactly once, whichever process wrote it; without end.

        Args:
            after: such as the `event_seq` of a star map; None starts with what comes from now on.
            root_id: only events of the tree with that root, also of what is not there any more.

        Raises, from the iteration:
            InvalidInput: there is no event of number `after` yet, or `root_id` is no root.
            LimitExceeded: the next ones were pruned; take a fresh `star_map` of the store.
        """
        if after is not None:
            check_range(after, "after", 0, _LAST)
        if root_id is not None:
            check_id(root_id, "rootId")
        return follow_events(self.store, self._watch, after, root_id)
