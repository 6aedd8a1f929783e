"""The turns of a whole Space by their status."""

import asyncio

from stello_graph.model.turn import TurnStatus
from stello_graph.ports import SpaceStore
from tests.conformance.drafts import begin, create, end_of, exchange, failure_of, told


async def test_newest_first_over_all_sessions(space: SpaceStore) -> None:
    """Turns of all sessions in order of time, the newest first, cut after `first`."""
    sessions = [await create(space) for _ in range(2)]
    turns = [await exchange(space, sessions[n % 2].id) for n in range(4)]
    failing = (await begin(space, sessions[0].id)).turn
    await space.end_turn(failure_of(failing))

    completed = await space.turns_by_status(TurnStatus.COMPLETED, first=10)

    assert completed == turns[::-1]
    assert await space.turns_by_status(TurnStatus.COMPLETED, first=2) == completed[:2]
    assert [turn.id for turn in await space.turns_by_status(TurnStatus.FAILED, first=10)] == [failing.id]
    assert await space.turns_by_status(TurnStatus.CANCELLED, first=10) == []


async def test_a_turn_is_found_by_the_status_that_it_has_now(space: SpaceStore) -> None:
    """RUNNING until its end, then by how it ended."""
    session = await create(space)
    begun = (await begin(space, session.id)).turn
    assert await space.turns_by_status(TurnStatus.RUNNING, first=10) == [begun]

    await space.end_turn(end_of(begun, told()))

    assert await space.turns_by_status(TurnStatus.RUNNING, first=10) == []
    assert [turn.id for turn in await space.turns_by_status(TurnStatus.COMPLETED, first=10)] == [begun.id]


async def test_turns_of_one_moment_have_an_order(space: SpaceStore) -> None:
    """Begun together, they are listed the same way each time."""
    sessions = [await create(space) for _ in range(8)]
    begun = await asyncio.gather(*(begin(space, session.id) for session in sessions))

    listed = [turn.id for turn in await space.turns_by_status(TurnStatus.RUNNING, first=10)]

    by_time = sorted((one.turn for one in begun), key=lambda turn: (turn.started_at, turn.id), reverse=True)
    assert listed == [turn.id for turn in by_time]
    for one in begun:
        await space.end_turn(end_of(one.turn, told()))


async def test_deleted_sessions_take_their_turns_along(space: SpaceStore) -> None:
    """A turn of a deleted session is listed no more."""
    kept, gone = [await create(space) for _ in range(2)]
    turn = await exchange(space, kept.id)
    await exchange(space, gone.id)

    await space.delete_session(gone.id, 1, 10)

    assert await space.turns_by_status(TurnStatus.COMPLETED, first=10) == [turn]
