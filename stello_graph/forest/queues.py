"""First come, first served: who waits for the same session in this process."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

__all__ = ["Queues"]


class _Queue:
    """Who waits for one key: those who queue, and the urgent, whom they let go first."""

    def __init__(self) -> None:
        self.locks = {urgent: asyncio.Lock() for urgent in (False, True)}
        self.waiting = dict.fromkeys((False, True), 0)
        self.calm = asyncio.Event()

    def count(self, urgent: bool, change: int) -> bool:
        """One more, or one less; answers whether anybody is left."""
        self.waiting[urgent] += change
        if self.waiting[True]:
            self.calm.clear()
        else:
            self.calm.set()
        return any(self.waiting.values())


class Queues:
    """One queue for each key that somebody waits for; an unused one costs nothing."""

    def __init__(self) -> None:
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def first(
        self, key: str, deadline: float, *, urgent: bool = False
    ) -> AsyncIterator[Callable[[], Awaitable[object]]]:
        """Waits until the caller is the first in the queue of `key`.

        Args:
            deadline: when to give up, by the event loop's clock; raises TimeoutError then.
            urgent: goes before all who are not.

        Yields:
            What to await before each attempt: it waits as long as somebody urgent is there.
        """
        queue = self._queues.setdefault(key, _Queue())
        queue.count(urgent, 1)
        try:
            async with asyncio.timeout_at(deadline):
                await queue.locks[urgent].acquire()
            try:
                yield _at_once if urgent else queue.calm.wait
            finally:
                queue.locks[urgent].release()
        finally:
            if not queue.count(urgent, -1):
                self._queues.pop(key, None)


async def _at_once() -> None:
    """Nobody goes before the urgent."""
