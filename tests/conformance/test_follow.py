"""Following the map: read by number, exactly once, from whichever process; and pruning."""

import asyncio
import os
import sys
from collections.abc import Sequence
from contextlib import aclosing
from pathlib import Path

import pytest

from stello_graph.errors import ErrorCode, InvalidInput, LimitExceeded, NotFound
from stello_graph.forest.events import follow_events, past_events, prune_events
from stello_graph.forest.watch import Watch
from stello_graph.ids import new_id
from stello_graph.model.memory import InsightDraft
from stello_graph.model.topology import TopologyEvent
from stello_graph.model.values import SessionRole, SessionStatus
from stello_graph.model.writes import SessionFilter
from stello_graph.ports import SpaceStore
from stello_graph.store.store import GraphStore
from tests.conformance.databases import Database
from tests.conformance.drafts import (
    ALL,
    begin,
    child,
    create,
    end_of,
    fork_of,
    many,
    placed,
    root,
    told,
    usage,
)
from tests.conformance.replay import Map, fresh, snapshot
from tests.e2e.waiting import until

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 6
NEVER = 3600.0
MONTH = 30 * 86_400.0


async def take(
    space: SpaceStore, watch: Watch, after: int | None, count: int, root_id: str | None = None
) -> list[TopologyEvent]:
    """The next events, as many as are asked for."""
    found: list[TopologyEvent] = []
    async with aclosing(follow_events(space, watch, after, root_id)) as events:
        while len(found) < count:
            found.append(await anext(events))
    return found


def seqs(events: Sequence[TopologyEvent]) -> list[int]:
    return [event.seq for event in events]


async def test_a_page(space: SpaceStore) -> None:
    """Events after a number, the oldest first, with what belongs to their types."""
    top = await create(space)
    made = await space.fork(fork_of(top.id), None)
    await space.append(made.id, many(2))
    await space.end_turn(end_of((await begin(space, made.id)).turn, told()))
    await space.delete_session(made.id, 1, 10)

    assert seqs(await past_events(space, 0, 2)) == [1, 2]
    forked, appended, ended, deleted = await past_events(space, 1, 100)
    assert (forked.type, forked.node_id, forked.data["sourceSessionId"]) == (
        "SESSION_FORKED",
        made.id,
        top.id,
    )
    assert (appended.type, appended.data["firstSeq"]) == ("SESSION_UPDATED", 1)
    assert (ended.type, ended.data["status"], ended.data["messageCount"]) == ("TURN_ENDED", "COMPLETED", 4)
    assert (deleted.type, deleted.data) == ("SESSION_DELETED", {"ids": [made.id], "parentId": top.id})
    assert appended.at <= ended.at <= deleted.at
    assert await past_events(space, 5, 100) == ()


async def test_numbers_that_are_not_there(space: SpaceStore, store: GraphStore) -> None:
    """A number beyond the newest is refused at once, and so is a Space that is not there."""
    await create(space)
    watch = Watch(store, NEVER)

    with pytest.raises(InvalidInput, match="newest event has the number 1"):
        await past_events(space, 2, 10)
    with pytest.raises(InvalidInput, match="newest event has the number 1"):
        await take(space, watch, 2, 1)
    with pytest.raises(NotFound):
        await past_events(store.in_space("nowhere"), 0, 10)
    assert watch.seen(space.space_id) == []


async def test_trees(space: SpaceStore, store: GraphStore) -> None:
    """A tree's events are told apart, also those of what was deleted since."""
    one, two = await create(space), await create(space)
    below = await space.create_session(child(one.id), None)
    deep = await space.create_session(child(below.id), None)
    await space.update_session(two.id, {"label": "other"})
    await space.put_insight(deep.id, "hint", None)
    await space.report_failure(deep.id, "COMPRESS", ErrorCode.INTERNAL, "no")
    await space.add_ref(below.id, two.id)
    await space.delete_session(below.id, 2, 10)
    await space.delete_session(one.id, 1, 10)
    watch = Watch(store, NEVER)

    found = await take(space, watch, 0, 8, one.id)

    assert [(event.type, event.node_id) for event in found] == [
        ("SESSION_CREATED", one.id),
        ("SESSION_CREATED", below.id),
        ("SESSION_CREATED", deep.id),
        ("INSIGHT_PUT", deep.id),
        ("TASK_FAILED", deep.id),
        ("REF_ADDED", below.id),
        ("SESSION_DELETED", below.id),
        ("SESSION_DELETED", one.id),
    ]
    assert seqs(await take(space, watch, 0, 2, two.id)) == [2, 5]
    leaf = await space.create_session(child(two.id), None)
    with pytest.raises(InvalidInput, match="no root"):
        await take(space, watch, 0, 1, leaf.id)


async def test_every_kind_of_event_knows_its_tree(space: SpaceStore) -> None:
    """Whatever writes an event, the event has the root of its node's tree."""
    top = await create(space, role=SessionRole.MAIN)
    made = await space.create_session(child(top.id), None)
    await space.update_session(made.id, {"label": "new"})
    await space.set_status(made.id, SessionStatus.ARCHIVED)
    await space.set_status(made.id, SessionStatus.ACTIVE)
    await space.append(made.id, many(3))
    await space.trim(made.id, 1)
    await space.put_memory(made.id, "m")
    await space.store_digest(made.id, "d", revision=1, through_seq=0, usage=usage(1))
    await space.store_rollup(made.id, "r", through_seq=1, usage=usage(1))
    await space.put_insights([InsightDraft(session_id=made.id, content="i")])
    await space.clear_insight(made.id)
    await space.put_insight(made.id, "i", None)
    await space.end_turn(end_of((await begin(space, made.id)).turn, told()))

    found = await past_events(space, 0, 100)

    assert {event.node_id for event in found} == {top.id, made.id}
    assert {event.root_id for event in found} == {top.id}
    assert len(found) == 15


async def test_from_now_on(space: SpaceStore, store: GraphStore) -> None:
    """Without a number only what comes is told; a write of this process wakes at once."""
    await create(space)
    watch = Watch(store, NEVER)
    waiting = asyncio.create_task(take(space, watch, None, 2))
    await until(lambda: watch.seen(space.space_id) == [1], "it listens")

    await create(space)
    await create(space)

    async with asyncio.timeout(60):
        assert seqs(await waiting) == [2, 3]


async def test_another_process_is_heard(space: SpaceStore, twin: SpaceStore, store: GraphStore) -> None:
    """What another process wrote is found by asking for the numbers of all watched Spaces at once."""
    await create(space)
    before = len(asyncio.all_tasks())
    watch = Watch(store, 0.02)
    waiting = [asyncio.create_task(take(space, watch, None, 1)) for _ in range(3)]
    await until(lambda: watch.seen(space.space_id) == [1, 1, 1], "all listen")

    await create(twin)

    async with asyncio.timeout(60):
        assert [seqs(found) for found in await asyncio.gather(*waiting)] == [[2], [2], [2]]
    assert watch.seen(space.space_id) == []
    await until(lambda: len(asyncio.all_tasks()) == before, "nothing is left that looks")


@pytest.mark.covers("W45")
async def test_a_snapshot_and_what_comes_after_are_the_map(
    space: SpaceStore, store: GraphStore, database: Database
) -> None:
    """While three processes change the map, clients start at any time; in the end each has what is stored."""
    top = await create(space)
    writers = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.conformance.writer"),
            *(database.url, space.space_id, top.id, str(ROUNDS)),
            cwd=ROOT,
            env=os.environ | database.credentials,
        )
        for _ in range(2)
    ]
    watch = Watch(store, 0.05)
    last = 1 + 3 * ROUNDS * 8
    clients: list[asyncio.Task[Map]] = []
    for _ in range(ROUNDS):
        clients.append(asyncio.create_task(follow_to(space, watch, last)))
        await change(space, top.id)

    assert await asyncio.gather(*(writer.wait() for writer in writers)) == [0, 0]
    async with asyncio.timeout(120):
        maps = await asyncio.gather(*clients)
    stars, refs = await fresh(space)
    assert (await space.space()).event_seq == last
    for found in maps:
        assert found.stars == stars
        assert found.refs == refs
    assert watch.seen(space.space_id) == []


async def follow_to(space: SpaceStore, watch: Watch, last: int) -> Map:
    """A client that takes a snapshot and applies what comes after it, up to a number."""
    found = Map(space, await snapshot(space))
    async with aclosing(follow_events(space, watch, found.seq, None)) as events:
        while found.seq < last:
            await found.apply(await anext(events))
    return found


async def change(space: SpaceStore, parent_id: str) -> None:
    """Eight events, as a round of the other processes."""
    made = await space.create_session(child(parent_id), None)
    await space.update_session(made.id, {"label": "new"})
    await space.end_turn(end_of((await begin(space, made.id)).turn, told()))
    other = await space.create_session(root(), None)
    await space.add_ref(other.id, made.id)
    await space.remove_ref(other.id, made.id)
    await space.set_status(made.id, SessionStatus.ARCHIVED)
    await space.delete_session(other.id, 1, 10)


async def test_slow_clients_read_by_pages(space: SpaceStore, store: GraphStore) -> None:
    """Who is slow has nothing queued for it: it reads on where it stands, page by page."""
    top = await create(space)
    watch = Watch(store, NEVER)
    async with aclosing(follow_events(space, watch, 0, None)) as events:
        assert (await anext(events)).seq == 1
        for number in range(130):
            await space.update_session(top.id, {"label": str(number)})
        assert seqs([await anext(events) for _ in range(130)]) == list(range(2, 132))


async def test_pruning(store: GraphStore, twin_store: GraphStore, database: Database) -> None:
    """Old events go in batches, the newest never; who asks for one that is gone is told so."""
    id = f"test-{new_id()}"
    await store.ensure_space(id, "Test")
    space = store.in_space(id)
    top = await create(space)
    for number in range(9):
        await space.update_session(top.id, {"label": str(number)})
    watch = Watch(store, NEVER)

    async def left() -> list[int]:
        """The numbers that are left once two processes have pruned at once."""
        await asyncio.gather(*(prune_events(one, MONTH, batch=2) for one in (store, twin_store)))
        return sorted(row["seq"] for row in database.snapshot(id)["event"])

    assert await left() == list(range(1, 11))
    async with aclosing(follow_events(space, watch, 2, None)) as slow:
        assert (await anext(slow)).seq == 3
        database.age_events(id, 7, int(MONTH * 1_000_000))
        assert await left() == [8, 9, 10]
        await space.prune_events(7)
        assert seqs(await past_events(space, 7, 100)) == [8, 9, 10]
        database.age_events(id, 10, int(MONTH * 1_000_000))
        assert await left() == [10]
    for after in (0, 8):
        with pytest.raises(LimitExceeded, match="fresh starMap"):
            await past_events(space, after, 100)
        with pytest.raises(LimitExceeded, match="fresh starMap"):
            await take(space, watch, after, 1)
    assert seqs(await past_events(space, 9, 100)) == [10]
    await space.put_memory(top.id, "m")
    assert seqs(await take(space, watch, 9, 2)) == [10, 11]
    page = await space.digests(SessionFilter(), changed_after=10, after="", first=10)
    assert (page.event_seq, [digest.id for digest in page.digests]) == (11, [top.id])


async def test_a_slow_client_that_pruning_overtook(store: GraphStore, database: Database) -> None:
    """It hears that events are gone, and never goes on as if there had been none."""
    id = f"test-{new_id()}"
    await store.ensure_space(id, "Test")
    space = store.in_space(id)
    top = await create(space)
    async with aclosing(follow_events(space, Watch(store, NEVER), 0, None)) as slow:
        assert (await anext(slow)).seq == 1
        for number in range(3):
            await space.update_session(top.id, {"label": str(number)})
        database.age_events(id, 3, int(MONTH * 1_000_000))
        await prune_events(store, MONTH)

        with pytest.raises(LimitExceeded, match="events after 1 are not kept"):
            await anext(slow)


async def test_a_map_after_pruning(store: GraphStore, database: Database) -> None:
    """The number of a map can be followed, also where most events of the newest write are gone."""
    id = f"test-{new_id()}"
    await store.ensure_space(id, "Test")
    space = store.in_space(id)
    await space.import_sessions([placed(str(number)) for number in range(9)])
    before = await space.star_map(None, max_depth=None, max_nodes=ALL, include_archived=True)
    assert before.event_seq in (0, 9)
    database.age_events(id, 9, int(MONTH * 1_000_000))

    await prune_events(store, MONTH)

    found = await space.star_map(None, max_depth=None, max_nodes=ALL, include_archived=True)
    await space.update_session("0", {"label": "after"})
    assert seqs(await past_events(space, found.event_seq, 100))[-1] == 10
