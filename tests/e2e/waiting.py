"""Waiting for conditions, never for a time."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

__all__ = ["until"]

T = TypeVar("T")


async def until(check: Callable[[], T | Awaitable[T]], what: str, *, seconds: float = 60.0) -> T:
    """Asks again and again until `check` gives something true, and returns that."""
    deadline = time.monotonic() + seconds
    while True:
        found = check()
        if inspect.isawaitable(found):
            found = await found
        if found:
            return found
        if time.monotonic() > deadline:
            raise AssertionError(f"waited {seconds} s for this in vain: {what}")
        await asyncio.sleep(0.03)
