import pytest

from stello_graph.errors import NotFound, SessionArchived
from stello_graph.model.values import SessionStatus
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import create
from tests.conformance.racing import race


def held(database: Database, space: SpaceStore) -> dict[str, str]:
    """The session of each holder."""
    start = len(space.space_id) + 1
    return {row["key"][start:]: row["sk"][start:] for row in database.snapshot(space.space_id)["holder"]}


@pytest.mark.covers("SRV-3")
async def test_entering(space: SpaceStore, database: Database) -> None:
    """A holder that enters a session leaves the one before, and hears which that was."""
    one, two = await create(space), await create(space)

    assert await space.enter(one.id, "tab") == (one, None)
    assert await space.enter(one.id, "tab") == (one, None)
    assert await space.enter(two.id, "tab") == (two, one.id)
    assert held(database, space) == {"tab": two.id}


async def test_several_holders(space: SpaceStore, database: Database) -> None:
    """Holders are apart from each other."""
    one, two = await create(space), await create(space)

    await space.enter(one.id, "tab")
    assert (await space.enter(two.id, "phone"))[1] is None

    assert held(database, space) == {"tab": one.id, "phone": two.id}


async def test_leaving(space: SpaceStore, database: Database) -> None:
    """A holder leaves the session that it is in; of another nothing happens."""
    one, two = await create(space), await create(space)
    await space.enter(one.id, "tab")

    assert await space.leave(two.id, "tab") == (two, False)
    assert held(database, space) == {"tab": one.id}
    assert await space.leave(one.id, "tab") == (one, True)
    assert await space.leave(one.id, "tab") == (one, False)
    assert held(database, space) == {}
    assert (await space.enter(two.id, "tab"))[1] is None


@pytest.mark.covers("SRV-3")
async def test_archived(space: SpaceStore, database: Database) -> None:
    """An archived session is not entered, who is in it may leave, and the refused stays where it was."""
    one, two = await create(space), await create(space)
    await space.enter(one.id, "tab")
    await space.enter(two.id, "phone")
    await space.set_status(one.id, SessionStatus.ARCHIVED)

    for holder in ("phone", "new"):
        with pytest.raises(SessionArchived):
            await space.enter(one.id, holder)

    assert held(database, space) == {"tab": one.id, "phone": two.id}
    await space.leave(one.id, "tab")
    assert held(database, space) == {"phone": two.id}


@pytest.mark.covers("SRV-3")
async def test_unknown(space: SpaceStore, database: Database) -> None:
    """A session that does not exist is neither entered nor left."""
    one = await create(space)
    await space.enter(one.id, "tab")

    for holder in ("tab", "new"):
        with pytest.raises(NotFound):
            await space.enter("nobody", holder)
        with pytest.raises(NotFound):
            await space.leave("nobody", holder)

    assert held(database, space) == {"tab": one.id}


async def test_entering_at_once(space: SpaceStore, twin: SpaceStore, database: Database) -> None:
    """Of entries at once each leaves the one before: every session but the last is left once."""
    ids = [(await create(space)).id for _ in range(8)]

    won, lost = await race(store.enter(id, "tab") for id in ids for store in (space, twin))

    (last,) = held(database, space).values()
    left = [id for _, id in won if id is not None]
    assert lost == []
    assert all(session.id != before for session, before in won)
    assert len(left) == len([1 for _, before in won if before is not None])
    assert set(ids) - {last} <= set(left)


async def test_leaving_while_entering(space: SpaceStore, twin: SpaceStore, database: Database) -> None:
    """Who leaves a session while entering another is in the other."""
    for _ in range(10):
        one, two = await create(space), await create(space)
        await space.enter(one.id, "tab")

        _, lost = await race([space.enter(two.id, "tab"), twin.leave(one.id, "tab")])

        assert lost == []
        assert held(database, space) == {"tab": two.id}


async def test_deleting_while_entering(space: SpaceStore, twin: SpaceStore, database: Database) -> None:
    """Nobody is in a session that was deleted."""
    for _ in range(10):
        one = await create(space)

        _, lost = await race(
            [
                *(space.enter(one.id, f"tab-{n}") for n in range(3)),
                twin.delete_session(one.id, 1, 10),
            ]
        )

        assert all(isinstance(error, NotFound) for error in lost)
        assert held(database, space) == {}
