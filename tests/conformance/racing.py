"""Calls that are made at the same time."""

import asyncio
from collections.abc import Awaitable, Iterable
from typing import TypeVar

from stello_graph.errors import StelloError

T = TypeVar("T")
U = TypeVar("U")


async def race(calls: Iterable[Awaitable[T]]) -> tuple[list[T], list[StelloError]]:
    """What came of calls made at once: the results, and the errors that a caller may see."""
    results = await asyncio.gather(*(_answer(call) for call in calls))
    won = [result for result in results if not isinstance(result, StelloError)]
    lost = [result for result in results if isinstance(result, StelloError)]
    return won, lost


async def both(one: Awaitable[T], other: Awaitable[U]) -> tuple[T | StelloError, U | StelloError]:
    """What came of two calls made at once: the result, or the error that a caller may see."""
    return await asyncio.gather(_answer(one), _answer(other))


async def _answer(call: Awaitable[T]) -> T | StelloError:
    try:
        return await call
    except StelloError as error:
        return error
