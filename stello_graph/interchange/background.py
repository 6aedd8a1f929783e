"""Long work in a thread."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextvars import copy_context
from typing import Any, Generic, Self, TypeVar

__all__ = ["Ahead", "Overlapping", "in_thread"]

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


class Overlapping:
    """Work in an order: each piece is prepared while the one before it is done. It is used by `async with`,
    at whose end nothing goes on: what has begun is waited for, but where it is cancelled itself.
    """

    def __init__(self) -> None:
        self._last: asyncio.Future[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, kind: type[BaseException] | None, *error: object) -> None:
        if self._last is not None and kind is asyncio.CancelledError:
            self._last.cancel()
            await asyncio.gather(self._last, return_exceptions=True)
        else:
            await self.finish()

    async def begin(self, work: Callable[[asyncio.Future[None]], Coroutine[Any, Any, None]]) -> None:
        """Begins one and finishes the one before it, which `work` is given to wait for, as often as it likes.

        Raises what the one before raised.
        """
        before = self._last or _done()
        after = asyncio.shield(before)
        # A failure is told here, also where `work` fails before it looks.
        after.add_done_callback(lambda ended: ended.cancelled() or ended.exception())
        self._last = asyncio.create_task(work(after))
        await before

    async def finish(self) -> None:
        """Waits until nothing is left to do. Raises what the last one raised."""
        if self._last is not None:
            await self._last


def _done() -> asyncio.Future[None]:
    done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    done.set_result(None)
    return done
