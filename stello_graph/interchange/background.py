"""Long work in a thread."""

import asyncio
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Generic, Self, TypeVar

__all__ = ["Ahead", "in_thread"]

T = TypeVar("T")


async def in_thread(
    work: Callable[..., T],
    *given: Any,
    stop: Callable[[], None] = lambda: None,
    threads: Executor | None = None,
) -> T:
    """What takes a while, such as to parse a long conversation; it has ended also where this is cancelled.

    Args:
        stop: called then; it may shorten the work.
        threads: None takes those that all share.
    """
    loop = asyncio.get_running_loop()
    working = loop.run_in_executor(threads, copy_context().run, work, *given)
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        stop()
        await asyncio.wait({working})
        raise


class Ahead(Generic[T]):
    """Things that are made in a thread, each while the one before it is used. It is used by `async with`,
    at whose end no thread works for it any more.
    """

    def __init__(self, things: Iterator[T], stop: Callable[[], None] = lambda: None) -> None:
        """`stop` is called where it ends early; it may shorten the work."""
        self._things = things
        self._stop = stop
        self._making: asyncio.Future[T | None] | None = None
        # The shared threads of Python 3.11 let work wait for one that is busy, though others are free.
        self._thread = ThreadPoolExecutor(1, "stello-ahead")

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *error: object) -> None:
        if self._making is not None:
            self._making.cancel()
            await asyncio.gather(self._making, return_exceptions=True)
        self._thread.shutdown(wait=False)

    def begin(self) -> None:
        """Makes the next one from now on."""
        if self._making is None:
            making = in_thread(next, self._things, None, stop=self._stop, threads=self._thread)
            self._making = asyncio.ensure_future(making)

    async def take(self) -> T | None:
        """The next one, None after the last."""
        self.begin()
        making, self._making = self._making, None
        assert making is not None
        return await making
