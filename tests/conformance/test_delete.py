import pytest

from stello_graph.errors import Conflict, LimitExceeded, NotFound
from stello_graph.model.values import SessionStatus
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import (
    begin,
    child,
    create,
    exchange,
    fork_of,
    key,
    many,
    root,
    told,
    transcript,
)

BELONGINGS = ("session", "node", "parent", "edge", "message", "turn", "ref", "idempotency", "holder")


async def test_a_subtree(space: SpaceStore) -> None:
    """A session goes with all below it, the root first; what is beside it stays."""
    top = await create(space)
    middle = await space.create_session(child(top.id), None)
    leaves = [(await space.create_session(child(middle.id), None)).id for _ in range(2)]
    beside = await space.create_session(child(top.id), None)

    assert await space.delete_session(middle.id, 3, 10) == [middle.id, *leaves]

    assert (await space.sessions([top.id, middle.id, *leaves, beside.id])).keys() == {top.id, beside.id}
    assert (await space.nodes([top.id]))[top.id].child_count == 1
    assert (await space.space()).session_count == 2
    assert await space.delete_session(top.id, 2, 10) == [top.id, beside.id]


@pytest.mark.covers("S2")
async def test_all_that_belongs_to_it(space: SpaceStore, database: Database) -> None:
    """Transcript, turns, links, holders and idempotency keys go with a session."""
    top, other = await create(space), await create(space)
    doomed = await space.create_session(child(top.id), key("create"))
    await space.append(doomed.id, many(3), idempotency=key("append"))
    await exchange(space, doomed.id)
    await begin(space, doomed.id)
    await space.put_insight(doomed.id, "hint", None)
    await space.add_ref(doomed.id, other.id)
    await space.add_ref(other.id, doomed.id)
    await space.enter(doomed.id, "tab")

    await space.delete_session(top.id, 2, 10)

    left = database.snapshot(space.space_id)
    assert {table: len(left[table]) for table in BELONGINGS} == dict.fromkeys(BELONGINGS, 0) | {
        "session": 1,
        "node": 1,
        "parent": 1,
    }


async def test_shared_messages_stay(space: SpaceStore, database: Database) -> None:
    """Messages that another session shares stay; they go with the last."""
    source, elsewhere = await create(space), await create(space)
    await space.append(source.id, many(4))
    made = await space.fork(fork_of(source.id, parent_id=elsewhere.id, through_seq=3), None)
    before = await transcript(space, made.id)

    await space.delete_session(source.id, 1, 10)

    assert await transcript(space, made.id) == before
    assert len(database.snapshot(space.space_id)["message"]) == 3
    await space.delete_session(elsewhere.id, 2, 10)
    assert database.snapshot(space.space_id)["message"] == []


async def test_shared_within_the_subtree(space: SpaceStore, database: Database) -> None:
    """Messages that only the deleted sessions share go as well."""
    source = await create(space)
    await space.append(source.id, many(4))
    made = await space.fork(fork_of(source.id, through_seq=3, opening=told()), None)
    await space.fork(fork_of(made.id, through_seq=4), None)

    await space.delete_session(source.id, 3, 10)

    assert database.snapshot(space.space_id)["message"] == []


async def test_another_number(space: SpaceStore, database: Database) -> None:
    """Where another number of sessions would go, none goes, and the number is told."""
    top = await create(space)
    await space.create_session(child(top.id), None)
    before = database.snapshot(space.space_id)

    for expected in (1, 3):
        with pytest.raises(Conflict) as caught:
            await space.delete_session(top.id, expected, 10)
        assert caught.value.details == {"count": 2}

    assert database.snapshot(space.space_id) == before


async def test_too_many(space: SpaceStore, database: Database) -> None:
    """More than the limit is not deleted at once."""
    top = await create(space)
    for _ in range(3):
        await space.create_session(child(top.id), None)
    before = database.snapshot(space.space_id)

    with pytest.raises(LimitExceeded) as caught:
        await space.delete_session(top.id, 4, 3)

    assert caught.value.details == {"count": 4}
    assert database.snapshot(space.space_id) == before
    assert len(await space.delete_session(top.id, 4, 4)) == 4


async def test_unknown(space: SpaceStore) -> None:
    """A session that does not exist is not found, also one that was deleted."""
    session = await create(space)
    await space.delete_session(session.id, 1, 10)

    for id in (session.id, "nobody"):
        with pytest.raises(NotFound):
            await space.delete_session(id, 1, 10)
        with pytest.raises(NotFound):
            await space.open_turns_below(id)


async def test_archived(space: SpaceStore) -> None:
    """An archived session can be deleted."""
    session = await create(space)
    await space.set_status(session.id, SessionStatus.ARCHIVED)

    assert await space.delete_session(session.id, 1, 10) == [session.id]


async def test_open_turns_below(space: SpaceStore) -> None:
    """A subtree tells how many sessions it has and which turns hold some of them."""
    top = await create(space)
    below = await space.create_session(child(top.id), None)
    assert await space.open_turns_below(top.id) == (2, [])

    turns = {(await begin(space, id)).turn.id for id in (top.id, below.id)}

    count, found = await space.open_turns_below(top.id)
    assert (count, set(found)) == (2, turns)
    assert (await space.open_turns_below(below.id))[0] == 1


async def test_an_id_is_free_again(space: SpaceStore) -> None:
    """The id of a deleted session can be given again."""
    session = await create(space)
    await space.delete_session(session.id, 1, 10)

    again = await space.create_session(root("Again", id=session.id), None)

    assert (again.label, again.message_count) == ("Again", 0)


async def test_a_big_subtree(space: SpaceStore, database: Database) -> None:
    """Some hundreds of sessions with what they share go at once."""
    top = await create(space)
    await space.append(top.id, many(20))
    for _ in range(10):
        middle = await space.fork(fork_of(top.id, through_seq=20), None)
        for _ in range(9):
            await space.fork(fork_of(middle.id, through_seq=10), None)

    deleted = await space.delete_session(top.id, 101, 1_000)

    assert (len(deleted), deleted[0]) == (101, top.id)
    assert database.snapshot(space.space_id)["message"] == []
