"""Long work in a thread."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterator
from typing import Any, TypeVar

__all__ = ["ahead", "in_thread"]

T = TypeVar("T")


async def in_thread(work: Callable[..., T], *given: Any, stop: Callable[[], None] = lambda: None) -> T:
    """What takes a while, such as to parse a long conversation; it has ended also where this is cancelled.

    Args:
        stop: called then; it may shorten the work.
    """
    working = asyncio.ensure_future(asyncio.to_thread(work, *given))
    try:
        return await asyncio.shield(working)
    except asyncio.CancelledError:
        stop()
        await asyncio.wait({working})
        raise


async def ahead(items: Iterator[T], stop: Callable[[], None] = lambda: None) -> AsyncGenerator[T, None]:
    """Each of `items`, made in a thread while the one before it is used. To be closed, which ends that.

    Args:
        stop: called where it is closed early; it may shorten the work.
    """
    making = asyncio.ensure_future(in_thread(next, items, None, stop=stop))
    try:
        while (made := await making) is not None:
            making = asyncio.ensure_future(in_thread(next, items, None, stop=stop))
            yield made
    finally:
        making.cancel()
        await asyncio.gather(making, return_exceptions=True)
