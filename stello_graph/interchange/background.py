"""Long work in a thread."""

import asyncio
from collections.abc import Callable
from typing import Any, TypeVar

__all__ = ["in_thread"]

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
