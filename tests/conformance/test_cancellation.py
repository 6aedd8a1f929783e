"""Who no longer waits for an answer breaks nothing."""

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from stello_graph.errors import StoreUnavailable
from stello_graph.ports import SpaceStore
from stello_graph.store.store import GraphStore
from tests.conformance.conftest import OpenEngine
from tests.conformance.drafts import child, create, exchange, fork_of, many, transcript

CALLS = 300


async def test_calls_cancelled_at_every_moment(open_engine: OpenEngine, space: SpaceStore) -> None:
    """Calls that are cancelled at whatever moment lose no connection and leave nothing half done."""
    top = await create(space)
    await space.append(top.id, many(10))
    store = GraphStore(open_engine(pool_size=10)).in_space(space.space_id)
    calls: list[Callable[[], Awaitable[Any]]] = [
        lambda: store.create_session(child(top.id), None),
        lambda: store.append(top.id, many(2)),
        lambda: store.fork(fork_of(top.id, through_seq=10), None),
        lambda: store.put_insight(top.id, "hint", None),
        lambda: transcript(store, top.id),
    ]
    for call in calls:
        await call()

    for number in range(CALLS):
        task = asyncio.ensure_future(calls[number % len(calls)]())
        await asyncio.sleep(0.02 * number / CALLS)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    async with asyncio.timeout(30):
        await asyncio.gather(*(transcript(store, top.id) for _ in range(30)))
        await exchange(store, top.id)
    nodes = (await store.children([top.id], after=-1, first=1_000))[top.id]
    assert nodes is not None
    forks = [node.id for node in nodes if node.source_session_id]
    assert {session.message_count for session in (await store.sessions(forks)).values()} == {10}


async def test_what_was_started_ends(open_engine: OpenEngine, space: SpaceStore) -> None:
    """A write whose caller went away is done before the store is closed."""
    top = await create(space)
    whole = GraphStore(open_engine())
    store = whole.in_space(space.space_id)
    await store.space()
    tasks = [asyncio.create_task(store.create_session(child(top.id), None)) for _ in range(20)]
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    for task in tasks:
        task.cancel()
    await asyncio.wait(tasks)

    await whole.aclose()

    assert all(task.cancelled() for task in tasks)
    assert (await space.nodes([top.id]))[top.id].child_count == 20


async def test_what_is_asked_of_a_closed_store(open_engine: OpenEngine, space: SpaceStore) -> None:
    """It is refused, also while the store is closing and where it was never used: nothing is opened."""
    top = await create(space)
    used, unused = GraphStore(open_engine()), GraphStore(open_engine())
    begun = asyncio.create_task(used.in_space(space.space_id).create_session(child(top.id), None))
    await asyncio.sleep(0)
    await asyncio.sleep(0)

    closing = [asyncio.create_task(store.aclose()) for store in (used, unused)]
    await asyncio.sleep(0)
    for store in (used, unused):
        late = store.in_space(space.space_id)
        for call in (late.nodes([top.id]), late.create_session(child(top.id), None), store.ping()):
            with pytest.raises(StoreUnavailable, match="closed"):
                await call
    await asyncio.gather(*closing)

    assert (await space.nodes([(await begun).id, top.id]))[top.id].child_count == 1


async def test_what_is_asked_of_a_closed_engine(open_engine: OpenEngine) -> None:
    """It is refused, also where it was never used: nothing is opened."""
    engine = open_engine()
    await engine.aclose()

    with pytest.raises(StoreUnavailable, match="closed"):
        await engine.ping()
