import asyncio
import gc
import logging

import pytest

from stello_graph.errors import StoreUnavailable
from stello_graph.outliving import outliving


async def test_work_outlives_who_asked_for_it() -> None:
    """It goes on where the caller is cancelled."""
    done = asyncio.Event()

    async def work() -> None:
        await asyncio.sleep(0.01)
        done.set()

    caller = asyncio.ensure_future(outliving(asyncio.create_task(work())))
    await asyncio.sleep(0)
    caller.cancel()
    with pytest.raises(asyncio.CancelledError):
        await caller
    async with asyncio.timeout(10):
        await done.wait()


@pytest.mark.parametrize(
    ("error", "level", "traces"),
    [(StoreUnavailable("away"), logging.WARNING, 0), (ValueError("a fault"), logging.ERROR, 1)],
)
async def test_a_failure_that_nobody_hears_of_is_logged(
    error: Exception, level: int, traces: int, caplog: pytest.LogCaptureFixture
) -> None:
    """In one line; a stack trace is for faults of ours."""
    gate = asyncio.Event()

    async def work() -> None:
        await gate.wait()
        raise error

    task = asyncio.create_task(work())
    caller = asyncio.ensure_future(outliving(task))
    await asyncio.sleep(0)
    caller.cancel()
    await asyncio.gather(caller, return_exceptions=True)
    gate.set()
    await asyncio.wait([task])
    await asyncio.sleep(0)
    del task
    gc.collect()

    assert [(record.name, record.levelno) for record in caplog.records] == [("stello_graph.outliving", level)]
    assert sum(record.exc_info is not None for record in caplog.records) == traces


async def test_a_caller_that_waits_hears_of_a_failure_itself(caplog: pytest.LogCaptureFixture) -> None:
    """And nothing is logged."""

    async def work() -> None:
        raise StoreUnavailable("away")

    with pytest.raises(StoreUnavailable):
        await outliving(asyncio.create_task(work()))
    assert caplog.records == []
