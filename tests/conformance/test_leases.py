import asyncio

from stello_graph.ids import new_id
from stello_graph.model.turn import StopReason, TurnStatus
from stello_graph.model.writes import TurnBegun, TurnExpired
from stello_graph.ports import SpaceStore
from stello_graph.store.store import GraphStore
from tests.conformance.drafts import LEASE, begin, create, end_of, failure_of, said, texts, told, transcript
from tests.conformance.racing import race

SHORT = 0.05


async def test_a_turn_that_lives_is_not_closed(space: SpaceStore, twin: SpaceStore) -> None:
    """Nobody closes a turn whose lease runs; its holder ends it."""
    session = await create(space)
    begun = await begin(space, session.id)

    assert await twin.end_turn(failure_of(begun.turn, closing=True)) is None
    assert await space.end_turn(end_of(begun.turn, told())) is not None


async def test_a_dead_turn_is_closed_by_another(space: SpaceStore, twin: SpaceStore) -> None:
    """Who wants to begin finds the turn that lost its holder, closes it, and begins."""
    session = await create(space)
    dead = await begin(space, session.id, lease=SHORT)
    await space.renew_turn(dead.turn, lease=SHORT, partial="Hel", round=0)
    await asyncio.sleep(2 * SHORT)
    turn_id = new_id()

    async def attempt() -> object:
        return await twin.begin_turn(session.id, turn_id, said("Next"), lease=LEASE, idempotency=None)

    found = await attempt()
    assert isinstance(found, TurnExpired)
    assert (found.turn.id, found.turn.partial) == (dead.turn.id, "Hel")
    closed = await twin.end_turn(
        failure_of(found.turn, closing=True, messages=(told("Hel"),), stop_reason=StopReason.INTERRUPTED)
    )
    assert closed is not None
    assert (closed[0].status, closed[0].stop_reason) == (TurnStatus.FAILED, StopReason.INTERRUPTED)
    assert isinstance(await attempt(), TurnBegun)
    assert texts(await transcript(space, session.id)) == ["Hello", "Hel", "Next"]


async def test_a_holder_that_was_closed(space: SpaceStore, twin: SpaceStore) -> None:
    """Whose turn was closed can neither renew nor end it."""
    session = await create(space)
    dead = await begin(space, session.id, lease=SHORT)
    await asyncio.sleep(2 * SHORT)
    await twin.end_turn(failure_of(dead.turn, closing=True))

    assert await space.renew_turn(dead.turn, lease=LEASE, partial="late", round=0) is None
    assert await space.end_turn(end_of(dead.turn, told("late"))) is None
    assert texts(await transcript(space, session.id)) == ["Hello"]


async def test_a_holder_that_wakes_in_time(space: SpaceStore, twin: SpaceStore) -> None:
    """A lease that ran out can be renewed as long as nobody closed the turn."""
    session = await create(space)
    late = await begin(space, session.id, lease=SHORT)
    await asyncio.sleep(2 * SHORT)

    assert await space.renew_turn(late.turn, lease=LEASE, partial="", round=0) is False
    assert await twin.end_turn(failure_of(late.turn, closing=True)) is None
    assert await space.end_turn(end_of(late.turn, told())) is not None


async def test_closing_races_ending(space: SpaceStore, twin: SpaceStore) -> None:
    """When the holder ends a turn while others close it, one of them does."""
    session = await create(space)
    for _ in range(5):
        late = await begin(space, session.id, lease=0.0)
        ends = [space.end_turn(end_of(late.turn, told("mine")))]
        ends += [
            twin.end_turn(failure_of(late.turn, closing=True, messages=(told("theirs"),))) for _ in range(3)
        ]

        won, lost = await race(ends)

        assert (len([end for end in won if end is not None]), lost) == (1, [])
    assert len(await transcript(space, session.id)) == 10


async def test_dead_turns_of_all_spaces(store: GraphStore, space: SpaceStore) -> None:
    """Turns whose lease ran out are found, those that live or ended are not."""
    alive, dead, ended = [await begin(space, (await create(space)).id, lease=LEASE) for _ in range(3)]
    await space.renew_turn(dead.turn, lease=0.0, partial="", round=0)
    await space.end_turn(end_of(ended.turn, told()))
    await asyncio.sleep(SHORT)

    expired = await store.expired_turns(1_000)

    assert [id for space_id, id in expired if space_id == space.space_id] == [dead.turn.id]
    assert len(await store.expired_turns(1)) == 1
    await space.end_turn(failure_of(dead.turn, closing=True))
    await space.end_turn(end_of(alive.turn, told()))
