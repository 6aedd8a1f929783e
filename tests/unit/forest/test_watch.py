"""Many who follow one map: in step with each other, and in nobody's way."""

import asyncio
from collections.abc import Callable
from contextlib import aclosing
from typing import cast

from stello_graph.forest.events import follow_events
from stello_graph.forest.watch import Watch
from stello_graph.model.topology import EventPage, TopologyEvent, TopologyEventType
from stello_graph.ports import SpaceStore, Store

FOLLOWERS = 200
EVENTS = 20
AT_ONCE = 16


class Log:
    """The events of one Space, as a store and as its Space."""

    space_id = "one"

    def __init__(self) -> None:
        self.reads = 0
        self._events: list[TopologyEvent] = []

    def on_event(self, wake: Callable[[str], None]) -> None:
        self._wake = wake

    async def events(self, after: int, first: int) -> EventPage:
        self.reads += 1
        return EventPage(newest=len(self._events), events=tuple(self._events[after : after + first]))

    def add(self) -> None:
        seq = len(self._events) + 1
        kind = TopologyEventType.SESSION_UPDATED
        self._events.append(TopologyEvent(seq=seq, type=kind, node_id="a", root_id="a", data={}, at=seq))
        self._wake(self.space_id)


async def test_many_followers() -> None:
    """Few are told in one turn of the event loop; each hears of all; what comes meanwhile is read once."""
    log, told, most = Log(), 0, 0
    watch = Watch(cast(Store, log), 3600)

    async def follow() -> None:
        nonlocal told
        async with aclosing(follow_events(cast(SpaceStore, log), watch, 0, None)) as events:
            async for event in events:
                told += 1
                if told % FOLLOWERS == FOLLOWERS // 2 and event.seq < EVENTS:
                    log.add()
                if event.seq == EVENTS:
                    return

    log.add()
    async with asyncio.timeout(60), asyncio.TaskGroup() as following:
        tasks = [following.create_task(follow()) for _ in range(FOLLOWERS)]
        while not all(task.done() for task in tasks):
            before = told
            await asyncio.sleep(0)
            most = max(most, told - before)

    assert told == FOLLOWERS * EVENTS
    assert most <= AT_ONCE
    assert log.reads <= 2 * EVENTS
