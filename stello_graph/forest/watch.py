"""Who waits for events of the map, and what wakes them.

A write of this process wakes the watchers of its Space at once. For the writes of others one query asks
for the numbers of all Spaces that are watched here, again and again while there are any. What is woken reads
from the store: nothing is queued here, so a slow watcher costs no memory. Those that are woken together and
have seen the same share one read, and few of them go on in each turn of the event loop: hundreds of watchers
hold up nobody else.
"""

import asyncio
import contextlib
import logging
from collections.abc import Iterator
from contextvars import Context

from stello_graph.errors import StelloError
from stello_graph.model.topology import EventPage
from stello_graph.outliving import outliving
from stello_graph.ports import SpaceStore, Store

__all__ = ["Watch", "Watcher"]

logger = logging.getLogger(__name__)

# Telling somebody takes a quarter of a millisecond or more.
_AT_ONCE = 16


class Watcher:
    """One that waits for the events of a Space.

    Attributes:
        seen: the newest number that it knows of.
    """

    def __init__(self) -> None:
        self.seen = 0
        self._rung = asyncio.Event()

    def wake(self) -> None:
        """There may be something new."""
        self._rung.set()

    def listen(self) -> None:
        """Forgets what it was woken for; to be called before looking."""
        self._rung.clear()

    async def woken(self) -> None:
        """Waits until there may be something new since `listen`."""
        await self._rung.wait()


class Watch:
    """All watchers of this process, of whatever Space."""

    def __init__(self, store: Store, interval: float) -> None:
        """Asks for nothing before somebody watches.

        Args:
            interval: seconds between looks for what other processes wrote.
        """
        self._store = store
        self._interval = interval
        self._watchers: dict[str, set[Watcher]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._asked: dict[tuple[str, int, int], asyncio.Task[EventPage]] = {}
        self._places = asyncio.Semaphore(_AT_ONCE)
        store.on_event(self._wake)

    def seen(self, space_id: str) -> list[int]:
        """Of each watcher of a Space, the newest number that it knows of."""
        return [watcher.seen for watcher in self._watchers.get(space_id, ())]

    @contextlib.contextmanager
    def watching(self, space_id: str) -> Iterator[Watcher]:
        """A watcher of a Space, for as long as the context lasts."""
        watcher = Watcher()
        self._watchers.setdefault(space_id, set()).add(watcher)
        if self._looking is None:
            # It looks for all: it is no part of what the first watcher does.
            self._looking = asyncio.create_task(self._look(), context=Context())
        try:
            yield watcher
        finally:
            self._watchers[space_id].discard(watcher)
            if not self._watchers[space_id]:
                del self._watchers[space_id]
            if not self._watchers and self._looking is not None:
                self._looking.cancel()
                self._looking = None

    async def events(self, store: SpaceStore, after: int, first: int) -> EventPage:
        """As `store.events`. Who asks for the same before it is read shares a read.

        It is read once all who wait in `its_turn` have gone on, who then ask for the same. A read that has
        begun is not shared any more: it may have missed what woke those who come later.
        """
        key = store.space_id, after, first
        if (asked := self._asked.get(key)) is None:
            asked = self._asked[key] = asyncio.create_task(self._read(store, key), context=Context())
        return await outliving(asked)

    async def its_turn(self) -> None:
        """To be called before each event that a watcher is told: they take turns with all else that runs."""
        await self._places.acquire()
        asyncio.get_running_loop().call_soon(self._places.release)

    async def _read(self, store: SpaceStore, key: tuple[str, int, int]) -> EventPage:
        await self.its_turn()
        del self._asked[key]
        return await store.events(*key[1:])

    def _wake(self, space_id: str) -> None:
        for watcher in self._watchers.get(space_id, ()):
            watcher.wake()

    async def _look(self) -> None:
        away = False
        while True:
            await asyncio.sleep(self._interval)
            try:
                newest = await self._store.newest_events(list(self._watchers))
                away = False
            except StelloError as error:
                if not away:
                    logger.warning("new events cannot be looked for: %s", error.message)
                away = True
                continue
            except Exception:
                logger.exception("new events cannot be looked for")
                continue
            for space_id, watchers in self._watchers.items():
                number = newest.get(space_id)
                for watcher in watchers:
                    # Of a Space that is not there any more its watchers are to find it out.
                    if number is None or number > watcher.seen:
                        watcher.wake()
