import json
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from stello_graph.errors import StelloError
from stello_graph.model.session import Session
from stello_graph.model.values import SessionStatus
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import (
    begin,
    child,
    create,
    end_of,
    exchange,
    failure_of,
    fork_of,
    many,
    root,
    told,
    usage,
)
from tests.conformance.racing import race


def events(database: Database, space: SpaceStore) -> list[dict[str, Any]]:
    return sorted(database.snapshot(space.space_id)["event"], key=lambda row: int(row["seq"]))


def types(database: Database, space: SpaceStore, after: int = 0) -> list[str]:
    return [row["type"] for row in events(database, space)[after:]]


async def rolled_up(space: SpaceStore, id: str) -> Session:
    assert await space.store_rollup(id, "r", through_seq=1, usage=usage(1))
    return (await space.sessions([id]))[id]


async def test_every_change_has_its_event(space: SpaceStore, database: Database) -> None:
    """Each change of the map writes one event of its type, in order."""
    top = await create(space)
    other = await create(space)
    made = await space.fork(fork_of(top.id), None)
    await space.update_session(top.id, {"label": "new"})
    await space.add_ref(top.id, other.id)
    await space.remove_ref(top.id, other.id)
    await space.append(top.id, many(3))
    await space.trim(top.id, 1)
    await space.put_memory(top.id, "m")
    await space.store_digest(top.id, "d", revision=1, through_seq=0, usage=usage(1))
    await space.put_insight(top.id, "i", None)
    await space.clear_insight(top.id)
    await space.set_status(top.id, SessionStatus.ARCHIVED)
    await space.set_status(top.id, SessionStatus.ACTIVE)
    await space.delete_session(made.id, 1, 10)

    found = events(database, space)

    assert [(row["seq"], row["type"], row["nodeId"]) for row in found] == [
        (1, "SESSION_CREATED", top.id),
        (2, "SESSION_CREATED", other.id),
        (3, "SESSION_FORKED", made.id),
        (4, "SESSION_UPDATED", top.id),
        (5, "REF_ADDED", top.id),
        (6, "REF_REMOVED", top.id),
        (7, "SESSION_UPDATED", top.id),
        (8, "SESSION_UPDATED", top.id),
        (9, "MEMORY_UPDATED", top.id),
        (10, "MEMORY_UPDATED", top.id),
        (11, "INSIGHT_PUT", top.id),
        (12, "SESSION_UPDATED", top.id),
        (13, "SESSION_ARCHIVED", top.id),
        (14, "SESSION_UNARCHIVED", top.id),
        (15, "SESSION_DELETED", made.id),
    ]
    assert [row["at"] for row in found] == sorted(row["at"] for row in found)
    data = {row["seq"]: json.loads(row["data"]) for row in found}
    assert data[3] == {"parentId": top.id, "sourceSessionId": top.id, "sourceSeq": None, "label": "Fork"}
    assert data[5] == data[6] == {"toId": other.id}
    assert data[15] == {"ids": [made.id], "parentId": top.id}


async def test_turns(space: SpaceStore, database: Database) -> None:
    """A turn's end is an event with its status; an insight that it took is one before it."""
    session = await create(space)
    await exchange(space, session.id)
    await space.put_insight(session.id, "hint", None)
    failed = await begin(space, session.id)
    await space.end_turn(failure_of(failed.turn))
    done = await begin(space, session.id)
    await space.end_turn(end_of(done.turn, told()))

    assert types(database, space, 1) == [
        "TURN_ENDED",
        "INSIGHT_PUT",
        "TURN_ENDED",
        "INSIGHT_CONSUMED",
        "TURN_ENDED",
    ]
    last = events(database, space)[-1]
    assert json.loads(last["data"]) == {"turnId": done.turn.id, "status": "COMPLETED"}
    assert last["messageCount"] == 5


async def test_a_deleted_subtree_is_one_event(space: SpaceStore, database: Database) -> None:
    """Deleting a subtree is one event of its root with all ids."""
    top = await create(space)
    ids = [top.id] + [(await space.create_session(child(top.id), None)).id for _ in range(3)]

    await space.delete_session(top.id, 4, 10)

    last = events(database, space)[-1]
    assert (last["type"], last["nodeId"], json.loads(last["data"])) == (
        "SESSION_DELETED",
        top.id,
        {"ids": ids, "parentId": None},
    )


async def test_a_digest_carries_the_number_of_its_last_change(space: SpaceStore, database: Database) -> None:
    """A session knows the number of the last event that changed its digest."""
    session = await create(space)
    changes: list[Callable[[], Awaitable[Session | tuple[Session, bool]]]] = [
        lambda: space.update_session(session.id, {"label": "new"}),
        lambda: space.put_memory(session.id, "m"),
        lambda: space.store_digest(session.id, "d", revision=1, through_seq=0, usage=usage(1)),
        lambda: space.put_insight(session.id, "i", None),
        lambda: space.clear_insight(session.id),
        lambda: space.set_status(session.id, SessionStatus.ARCHIVED),
        lambda: space.set_status(session.id, SessionStatus.ACTIVE),
        lambda: rolled_up(space, session.id),
    ]
    for change in changes:
        await create(space)
        changed = await change()
        now = changed[0] if isinstance(changed, tuple) else changed
        assert now.event_seq == events(database, space)[-1]["seq"]

    await space.put_insight(session.id, "i", None)
    await exchange(space, session.id)
    consumed = [row["seq"] for row in events(database, space) if row["type"] == "INSIGHT_CONSUMED"]
    assert (await space.sessions([session.id]))[session.id].event_seq == consumed[-1]


async def test_no_event_without_a_change(space: SpaceStore, database: Database) -> None:
    """What is refused or changes nothing takes no number."""
    session = await create(space)
    await begin(space, session.id)
    refused = [
        space.append(session.id, many(1)),
        space.trim(session.id, 1),
        space.create_session(root(id=session.id), None),
        space.create_session(child("nobody"), None),
        space.fork(fork_of(session.id, through_seq=9), None),
        space.delete_session(session.id, 7, 10),
        space.add_ref(session.id, session.id),
        space.store_digest(session.id, "d", revision=5, through_seq=0, usage=usage(1)),
        space.put_memory("nobody", "m"),
    ]
    for call in refused:
        with pytest.raises(StelloError):
            await call
    await space.clear_insight(session.id)
    await space.set_status(session.id, SessionStatus.ACTIVE)

    assert types(database, space) == ["SESSION_CREATED"]


async def test_no_gaps_under_load(space: SpaceStore, twin: SpaceStore, database: Database) -> None:
    """Numbers have no gaps and no repeats, whatever is written by whom at the same time."""
    tops = [(await create(space)).id for _ in range(4)]

    async def work(store: SpaceStore, top: str) -> None:
        made = await store.create_session(child(top), None)
        forked = await store.fork(fork_of(made.id), None)
        await store.append(made.id, many(2))
        await store.put_insight(made.id, "hint", None)
        await exchange(store, made.id)
        await store.add_ref(made.id, tops[0]) if top != tops[0] else await store.put_memory(made.id, "m")
        await store.set_status(made.id, SessionStatus.ARCHIVED)
        await store.delete_session(forked.id, 1, 10)

    _, lost = await race(work(store, top) for top in tops * 2 for store in (space, twin))

    assert lost == []
    found = types(database, space)
    assert len(found) == 4 + 16 * 9
    assert [found.count(type) for type in ("SESSION_FORKED", "TURN_ENDED", "INSIGHT_CONSUMED")] == [16] * 3
