import pytest

from stello_graph.errors import Conflict
from stello_graph.ids import new_id
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import TurnBegun, TurnJoined
from stello_graph.ports import SpaceStore
from stello_graph.store.store import GraphStore
from tests.conformance.databases import Database
from tests.conformance.drafts import LEASE, child, create, end_of, fork_of, key, many, root, said, told


async def send(space: SpaceStore, session_id: str, input_hash: str = "input") -> TurnBegun | TurnJoined:
    begun = await space.begin_turn(
        session_id, new_id(), said(), lease=LEASE, idempotency=key(input_hash=input_hash)
    )
    assert isinstance(begun, TurnBegun | TurnJoined)
    return begun


async def test_creating(space: SpaceStore, database: Database) -> None:
    """The same key gives the session that was made first, as it is now."""
    first = await space.create_session(root("First"), key())
    renamed = await space.update_session(first.id, {"label": "Renamed"})
    before = database.snapshot(space.space_id)

    assert await space.create_session(root("First"), key()) == renamed
    assert database.snapshot(space.space_id) == before


async def test_forking(space: SpaceStore, database: Database) -> None:
    """The same key gives the fork that was made first, also where source and parent are archived by now."""
    source = await create(space)
    first = await space.fork(fork_of(source.id), key())
    await space.set_status(source.id, SessionStatus.ARCHIVED)
    before = database.snapshot(space.space_id)

    assert (await space.fork(fork_of(source.id), key())).id == first.id
    assert database.snapshot(space.space_id) == before


async def test_appending(space: SpaceStore, database: Database) -> None:
    """The same key gives the places of the messages that were stored first."""
    session = await create(space)
    first = await space.append(session.id, many(3), idempotency=key())
    await space.append(session.id, many(2))
    before = database.snapshot(space.space_id)

    assert await space.append(session.id, many(3), idempotency=key()) == first == (1, 3)
    assert database.snapshot(space.space_id) == before


async def test_sending(space: SpaceStore, database: Database) -> None:
    """The same key joins the turn that was begun first, while it runs and when it has ended."""
    session = await create(space)
    begun = await send(space, session.id)
    before = database.snapshot(space.space_id)

    joined = await send(space, session.id)
    assert isinstance(joined, TurnJoined)
    assert joined.turn == begun.turn
    assert database.snapshot(space.space_id) == before

    ended = await space.end_turn(end_of(begun.turn, told()))
    assert ended is not None
    joined = await send(space, session.id)
    assert isinstance(joined, TurnJoined)
    assert joined.turn == ended[0]


async def test_another_input(space: SpaceStore, database: Database) -> None:
    """A key that was used for another input is refused, whatever the operation."""
    session = await create(space)
    await space.create_session(root(), key("create"))
    await space.fork(fork_of(session.id), key("fork"))
    await space.append(session.id, many(1), idempotency=key("append"))
    await send(space, session.id)
    other = await create(space)
    before = database.snapshot(space.space_id)

    for name in ("create", "fork", "append", "key"):
        for given in (key(name, "another"), key(name)):
            attempts = {
                "create": space.create_session(child(other.id), given),
                "fork": space.fork(fork_of(other.id), given),
                "append": space.append(other.id, many(1), idempotency=given),
                "key": space.begin_turn(other.id, new_id(), said(), lease=LEASE, idempotency=given),
            }
            for operation, attempt in attempts.items():
                if operation == name and given == key(name):
                    attempt.close()
                    continue
                with pytest.raises(Conflict):
                    await attempt

    assert database.snapshot(space.space_id) == before


async def test_keys_of_another_space(store: GraphStore, space: SpaceStore) -> None:
    """Spaces do not share keys."""
    other = store.in_space((await store.ensure_space(f"other-{new_id()}", "Other")).id)

    first = await space.create_session(root("Here"), key())
    second = await other.create_session(root("There"), key())

    assert (first.label, second.label) == ("Here", "There")


async def test_a_key_goes_with_its_result(space: SpaceStore) -> None:
    """When a result is deleted, its key is free."""
    first = await space.create_session(root("First"), key())
    await space.delete_session(first.id, 1, 10)

    second = await space.create_session(root("Second"), key())

    assert second.label == "Second"


async def test_a_refused_call_takes_no_key(space: SpaceStore) -> None:
    """A key is taken by what it has made, not by a failure."""
    with pytest.raises(Exception, match="nobody"):
        await space.create_session(child("nobody"), key())

    assert (await space.create_session(root("Now"), key(input_hash="another"))).label == "Now"
