"""The events of the map: read by number, followed, and pruned."""

import asyncio
import logging
import random
from collections.abc import AsyncGenerator, Awaitable, Callable
from functools import partial

from stello_graph.errors import InvalidInput, LimitExceeded, StelloError
from stello_graph.forest.watch import Watch, Watcher
from stello_graph.model.topology import EventPage, TopologyEvent
from stello_graph.ports import SpaceStore, Store

__all__ = ["follow_events", "keep_pruned", "past_events", "prune_events"]

logger = logging.getLogger(__name__)

PAGE = 100
# Of a Neo4j server a number may be known some moments before its event is found, and a follower of a cluster
# may lag: how often a look is repeated, and after how long, in seconds.
_LOOKS = 6
_PAUSE = 0.05

_PRUNE_SECONDS = 600.0
_SPACES = 100
_BATCH = 500


async def past_events(store: SpaceStore, after: int, first: int) -> tuple[TopologyEvent, ...]:
    """The events after a number, the oldest first.

    Raises:
        InvalidInput: there is no event of that number yet.
        LimitExceeded: the next ones were pruned.
    """
    return (await _page(store.events, after, first)).events


async def follow_events(
    store: SpaceStore, watch: Watch, after: int | None, root_id: str | None
) -> AsyncGenerator[TopologyEvent, None]:
    """Every event after a number, in order, exactly once, whichever process wrote it; without end.

    Args:
        after: None starts with what comes from now on.
        root_id: only events of the tree with that root, also of what is not there any more.

    Raises:
        InvalidInput: there is no event of number `after` yet, or `root_id` is no root.
        LimitExceeded: the next events were pruned.
    """
    with watch.watching(store.space_id) as watcher:
        if root_id is not None:
            await _check_root(store, root_id)
        seq = (await store.events(0, 0)).newest if after is None else after
        known = after is None
        while True:
            watcher.listen()
            page = await _page(partial(watch.events, store), seq, PAGE, known=known)
            known = True
            for event in page.events:
                seq = event.seq
                if root_id is None or event.root_id == root_id:
                    await watch.its_turn()
                    yield event
            if seq >= page.newest:
                await _news(watcher, seq)


async def _news(watcher: Watcher, seq: int) -> None:
    watcher.seen = seq
    await watcher.woken()


async def _page(
    read: Callable[[int, int], Awaitable[EventPage]], after: int, first: int, *, known: bool = False
) -> EventPage:
    """`known`: whether there is an event of the number `after`, though the store may not show it yet."""
    page = await read(after, first)
    for look in range(1, _LOOKS):
        if page.events or page.newest == after or (known and page.newest < after):
            return page
        await asyncio.sleep(_PAUSE * look)
        page = await read(after, first)
    if page.events or page.newest == after:
        return page
    if page.newest < after:
        raise InvalidInput(f"the newest event has the number {page.newest}: there is none after {after}")
    raise LimitExceeded(
        f"the events after {after} are not kept any more: take a fresh starMap, and go on after its eventSeq"
    )


async def _check_root(store: SpaceStore, root_id: str) -> None:
    node = (await store.nodes([root_id])).get(root_id)
    if node is not None and node.parent_id is not None:
        raise InvalidInput("rootId names a session that is no root")


async def keep_pruned(store: Store, days: float) -> None:
    """Removes old events now and then, for ever, whatever fails meanwhile; 0 days: never."""
    while days > 0:
        try:
            await prune_events(store, days * 86_400)
        except StelloError as error:
            logger.warning("old events could not be removed: %s", error.message)
        except Exception:
            logger.exception("old events could not be removed")
        await asyncio.sleep(_PRUNE_SECONDS * random.uniform(0.8, 1.2))


async def prune_events(store: Store, age: float, *, batch: int = _BATCH) -> None:
    """Removes the events of all Spaces that are older than `age` seconds, in batches.

    The newest event of a Space stays whatever its age. Several processes may do so at once.
    """
    after = ""
    while spaces := await store.old_events(age, after=after, first=_SPACES, limit=batch):
        due = [(space_id, through) for space_id, through in spaces if through]
        for space_id, through in due:
            await store.in_space(space_id).prune_events(through)
        if not due:
            after = spaces[-1][0]
