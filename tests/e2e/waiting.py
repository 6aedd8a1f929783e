"""Waiting for conditions, never for a time."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar, overload

__all__ = ["until"]

T = TypeVar("T")


@overload
async def until(check: Callable[[], Awaitable[T]], what: str, *, seconds: float = ...) -> T: ...


@overload
async def until(check: Callable[[], T], what: str, *, seconds: float = ...) -> T: ...


async def until(check: Callable[[], Any], what: str, *, seconds: float = 60.0) -> Any:
    """Asks again and again until `check` gives something true, and returns that."""
    deadline, pause = time.monotonic() + seconds, 0.02
    while True:
        found = check()
        if inspect.isawaitable(found):
            found = await found
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s for this in vain: {what}")
        await asyncio.sleep(pause)
        pause = min(2 * pause, 0.3)
