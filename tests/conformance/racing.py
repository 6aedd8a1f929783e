"""Calls that are made at the same time."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

from stello_graph.errors import StelloError

T = TypeVar("T")


async def race(calls: Iterable[Awaitable[T]]) -> tuple[list[T], list[StelloError]]:
    """What came of calls made at once: the results, and the errors that a caller may see."""
    results = await asyncio.gather(*calls, return_exceptions=True)
    won: list[T] = []
    lost: list[StelloError] = []
    for result in results:
        if isinstance(result, StelloError):
            lost.append(result)
        elif isinstance(result, BaseException):
            raise result
        else:
            won.append(result)
    return won, lost
