"""Functions that may block run in daemon threads of their own."""

import asyncio
import threading
from contextvars import ContextVar

import pytest

from stello_graph.session.threads import in_thread

WHO: ContextVar[str] = ContextVar("WHO")


async def test_what_it_gives_and_raises() -> None:
    """The function sees the caller's context; what it gives or raises is the caller's."""

    def told(greeting: str, *, loud: bool) -> tuple[str, bool]:
        return f"{greeting} {WHO.get()}" + "!" * loud, threading.current_thread().daemon

    def fails() -> None:
        raise ValueError("no")

    WHO.set("Ada")
    assert await in_thread(told, "Hello", loud=True) == ("Hello Ada!", True)
    with pytest.raises(ValueError, match="no"):
        await in_thread(fails)
    with pytest.raises(RuntimeError, match="StopIteration"):
        await in_thread(next, iter(()))


async def test_who_waits_can_leave() -> None:
    """Functions that never return, however many, keep neither their callers nor another function."""
    over = threading.Event()
    waiting = [asyncio.create_task(in_thread(over.wait)) for _ in range(100)]
    assert await in_thread(lambda: "done") == "done"
    for task in waiting:
        task.cancel()
    assert {type(one) for one in await asyncio.gather(*waiting, return_exceptions=True)} == {
        asyncio.CancelledError
    }
    over.set()
