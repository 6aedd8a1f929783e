"""First come, first served: who waits for the same session in this process."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

__all__ = ["Queues"]


class _Queue:
    def __init__(self) -> None:
        self.lock = asyncio.Lock()
        self.waiting = 0


class Queues:
    """One queue for each key that somebody waits for; an unused one costs nothing."""

    def __init__(self) -> None:
        self._queues: dict[str, _Queue] = {}

    @asynccontextmanager
    async def first(self, key: str, deadline: float) -> AsyncIterator[None]:
        """Waits until the caller is the first in the queue of `key`.

        Args:
            deadline: when to give up, by the event loop's clock; raises TimeoutError then.
        """
        queue = self._queues.setdefault(key, _Queue())
        queue.waiting += 1
        try:
            async with asyncio.timeout_at(deadline):
                await queue.lock.acquire()
            try:
                yield
            finally:
                queue.lock.release()
        finally:
            queue.waiting -= 1
            if not queue.waiting:
                self._queues.pop(key, None)
