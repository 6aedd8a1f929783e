"""The sums of what models took: each call is counted once, for its session and for its Space."""

import asyncio
from functools import reduce
from operator import add

import pytest

from stello_graph.errors import NotFound
from stello_graph.model.turn import TurnStatus
from stello_graph.model.values import SessionStatus, Usage
from stello_graph.ports import SpaceStore
from tests.conformance.drafts import (
    ALL,
    begin,
    create,
    end_of,
    failure_of,
    fork_of,
    told,
    tool_group,
    transcript,
    usage,
)


def total(usages: list[Usage]) -> Usage:
    return reduce(add, usages, Usage())


async def spent_of(space: SpaceStore, id: str) -> Usage:
    return (await space.sessions([id]))[id].usage


async def test_turns_add_up(space: SpaceStore) -> None:
    """A session's usage is the sum of its turns', a Space's that of its sessions, whatever became of them."""
    sessions = [await create(space) for _ in range(2)]
    spent = {session.id: Usage() for session in sessions}
    for number, session in enumerate([*sessions, sessions[0]], start=1):
        begun = await begin(space, session.id)
        message = told(turn_id=begun.turn.id, usage=usage(number))
        await space.end_turn(end_of(begun.turn, message, usage=usage(number)))
        failing = await begin(space, session.id)
        lost = Usage(llm_calls=1)
        await space.end_turn(failure_of(failing.turn, usage=lost))
        spent[session.id] += usage(number) + lost

    for id, expected in spent.items():
        turns = (await space.turns_of([id], before=ALL, first=ALL))[id]
        assert total([turn.usage for turn in turns]) == expected == await spent_of(space, id)
        replies = [message.usage for message in await transcript(space, id) if message.usage is not None]
        answered = [turn.usage for turn in turns if turn.status is TurnStatus.COMPLETED]
        assert total(replies) == total(answered)
    assert (await space.space()).usage == total(list(spent.values()))


async def test_a_forks_usage_is_its_own(space: SpaceStore) -> None:
    """A fork inherits messages with what they took, but none of it is counted again."""
    source = await create(space)
    begun = await begin(space, source.id)
    await space.end_turn(end_of(begun.turn, told(usage=usage(5)), usage=usage(5)))

    fork = await space.fork(fork_of(source.id, through_seq=2), None)

    assert (await transcript(space, fork.id))[-1].usage == usage(5)
    assert fork.usage == Usage()
    assert (await space.space()).usage == usage(5)


async def test_digests_and_lost_work_count(space: SpaceStore) -> None:
    """What a digest took, and what was taken for nothing, are in both sums."""
    session = await create(space)
    stored = await space.store_digest(session.id, "d", revision=0, through_seq=0, usage=usage(3))
    assert stored.usage == usage(3)

    await space.count_usage(session.id, usage(4))

    assert await spent_of(space, session.id) == usage(3) + usage(4) == (await space.space()).usage
    before = (await space.sessions([session.id]))[session.id]
    assert (before.memory, before.memory_revision, before.event_seq) == ("d", 1, stored.event_seq)


async def test_lost_work_counts_for_an_archived_session_too(space: SpaceStore) -> None:
    """It was taken, though the session takes no writes any more."""
    session = await create(space)
    await space.set_status(session.id, SessionStatus.ARCHIVED)

    await space.count_usage(session.id, usage(4))

    assert await spent_of(space, session.id) == usage(4)
    with pytest.raises(NotFound):
        await space.count_usage("nobody", usage(4))


async def test_nothing_is_lost_side_by_side(space: SpaceStore) -> None:
    """Counted at the same time in one session and in several, all of it arrives."""
    sessions = [await create(space) for _ in range(3)]

    await asyncio.gather(*(space.count_usage(session.id, usage(n)) for n in range(6) for session in sessions))

    each = total([usage(n) for n in range(6)])
    for session in sessions:
        assert await spent_of(space, session.id) == each
    assert (await space.space()).usage == each + each + each


async def test_a_space_remembers_what_deleted_sessions_took(space: SpaceStore) -> None:
    """Deleting a session takes its own sum along, not the Space's."""
    session = await create(space)
    await space.count_usage(session.id, usage(4))

    await space.delete_session(session.id, 1, 10)

    assert (await space.space()).usage == usage(4)


async def test_a_turn_whose_process_died_has_cost_what_it_stored(space: SpaceStore) -> None:
    """Closed by another, its calls that were answered count, once."""
    session = await create(space)
    begun = await begin(space, session.id)
    stored = await space.store_messages(begun.turn, tool_group(1), lease=0.0, usage=usage(7), tool_rounds=1)
    assert stored is not None
    await asyncio.sleep(0.01)

    ended = await space.end_turn(failure_of(stored[0], closing=True, usage=stored[0].usage))

    assert ended is not None
    assert ended[0].usage == usage(7) == await spent_of(space, session.id) == (await space.space()).usage
