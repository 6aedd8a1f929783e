"""Turns, appends and insights from two processes at once."""

import asyncio

import pytest

from stello_graph.errors import Conflict, SessionArchived, SessionBusy, StelloError
from stello_graph.ids import new_id
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import Idempotency, TurnBegun, TurnExpired, TurnJoined
from stello_graph.ports import SpaceStore
from tests.conformance.drafts import (
    LEASE,
    begin,
    create,
    end_of,
    exchange,
    failure_of,
    key,
    many,
    said,
    texts,
    told,
    transcript,
)
from tests.conformance.racing import both, race

Begun = TurnBegun | TurnJoined | TurnExpired


def attempt(
    space: SpaceStore, session_id: str, idempotency: Idempotency | None = None
) -> "asyncio.Future[Begun]":
    turn_id = new_id()
    draft = said(turn_id=turn_id)
    return asyncio.ensure_future(
        space.begin_turn(session_id, turn_id, draft, lease=LEASE, idempotency=idempotency)
    )


async def test_one_of_forty_begins(space: SpaceStore, twin: SpaceStore) -> None:
    """Of 40 begins at once one holds the session, and 39 hear that it is busy."""
    session = await create(space)
    for round in range(1, 9):
        won, lost = await race(attempt(store, session.id) for store in [space, twin] * 20)

        (begun,) = won
        assert isinstance(begun, TurnBegun)
        assert begun.turn.number == round
        assert len(lost) == 39
        assert all(isinstance(error, SessionBusy) for error in lost)
        assert {error.details["turnId"] for error in lost} == {begun.turn.id}
        await space.end_turn(end_of(begun.turn))
    assert (await space.sessions([session.id]))[session.id].message_count == 8


async def test_one_key_sent_forty_times(space: SpaceStore, twin: SpaceStore) -> None:
    """One idempotency key sent 40 times at once begins one turn, which 39 join."""
    session = await create(space)
    for round in range(4):
        won, lost = await race(attempt(store, session.id, key(f"{round}")) for store in [space, twin] * 20)

        begun = [one for one in won if isinstance(one, TurnBegun)]
        joined = [one for one in won if isinstance(one, TurnJoined)]
        assert (len(begun), len(joined), lost) == (1, 39, [])
        assert {one.turn.id for one in joined} == {begun[0].turn.id}
        await space.end_turn(end_of(begun[0].turn))


async def test_one_key_on_two_sessions(space: SpaceStore, twin: SpaceStore) -> None:
    """One idempotency key on two sessions at once: one begins, the other is in conflict."""
    ids = [(await create(space)).id for _ in range(2)]
    for round in range(8):
        won, lost = await race(
            attempt(store, id, key(f"{round}", input_hash=id))
            for store, id in zip([space, twin], ids, strict=True)
        )

        (begun,) = won
        assert isinstance(begun, TurnBegun)
        assert [type(error) for error in lost] == [Conflict]
        await space.end_turn(end_of(begun.turn))


async def test_the_next_turn_begins_when_one_ends(space: SpaceStore, twin: SpaceStore) -> None:
    """Who waits for a session gets it as soon as its turn ended; all turns are stored one after the other."""
    session = await create(space)

    async def send(store: SpaceStore, content: str) -> None:
        while True:
            try:
                await exchange(store, session.id, content, f"{content}!")
                return
            except SessionBusy:
                await asyncio.sleep(0.005)

    _, lost = await race(send(store, f"{n}") for n, store in enumerate([space, twin] * 6))

    said_texts = texts(await transcript(space, session.id))
    assert lost == []
    assert sorted(said_texts[::2], key=int) == [f"{n}" for n in range(12)]
    assert said_texts[1::2] == [f"{text}!" for text in said_texts[::2]]


async def test_appending_at_once(space: SpaceStore, twin: SpaceStore) -> None:
    """Messages that are appended together stay together, whoever else appends."""
    session = await create(space)

    won, lost = await race(store.append(session.id, many(3)) for store in [space, twin] * 15)

    assert lost == []
    assert sorted(won) == [(first, first + 2) for first in range(1, 90, 3)]
    assert texts(await transcript(space, session.id)) == texts(many(3)) * 30


async def test_appending_where_an_end_is_expected(space: SpaceStore, twin: SpaceStore) -> None:
    """Of many who expect the same end one appends."""
    session = await create(space)
    for _ in range(5):
        end = (await space.sessions([session.id]))[session.id].next_seq

        won, lost = await race(
            store.append(session.id, many(2), expected_seq=end) for store in [space, twin] * 8
        )

        assert won == [(end, end + 1)]
        assert {type(error) for error in lost} == {Conflict}


async def test_one_append_sent_many_times(space: SpaceStore, twin: SpaceStore) -> None:
    """One idempotency key sent many times appends once, and all hear the same places."""
    session = await create(space)
    drafts = many(2)

    won, lost = await race(
        store.append(session.id, drafts, idempotency=key()) for store in [space, twin] * 10
    )

    assert (set(won), lost) == ({(1, 2)}, [])


@pytest.mark.covers("W19")
async def test_appending_against_beginning(space: SpaceStore, twin: SpaceStore) -> None:
    """An append comes before a turn or is refused; nothing gets into a turn."""
    for _ in range(10):
        session = await create(space)

        begun, (stored, refused) = await asyncio.gather(
            attempt(space, session.id), race(twin.append(session.id, many(2)) for _ in range(3))
        )

        assert isinstance(begun, TurnBegun)
        assert all(isinstance(error, SessionBusy) for error in refused)
        assert begun.user_message.seq == 1 + 2 * len(stored)
        assert len(begun.conversation.transcript) == 2 * len(stored)


async def test_archiving_against_beginning(space: SpaceStore, twin: SpaceStore) -> None:
    """A turn begins before its session is archived, or not at all."""
    for _ in range(10):
        session = await create(space)

        begun, archived = await both(
            attempt(space, session.id), twin.set_status(session.id, SessionStatus.ARCHIVED)
        )

        assert isinstance(begun, TurnBegun | SessionArchived)
        assert not isinstance(archived, StelloError)
        if isinstance(begun, TurnBegun):
            assert await space.end_turn(end_of(begun.turn, told())) is not None


@pytest.mark.covers("W3")
async def test_an_insight_put_while_a_turn_ends(space: SpaceStore, twin: SpaceStore) -> None:
    """An insight that is put while a turn ends is not lost, whether the turn took another or none."""
    session = await create(space)
    for round in range(12):
        if round % 2:
            await space.put_insight(session.id, "old", None)
        begun = await begin(space, session.id)

        _, lost = await race(
            [
                space.end_turn(end_of(begun.turn, told())),
                twin.put_insight(session.id, f"new {round}", None),
            ]
        )

        assert lost == []
        pending = (await space.sessions([session.id]))[session.id].insight
        assert pending is not None
        assert pending.content == f"new {round}"
        await space.clear_insight(session.id)


async def test_ending_once(space: SpaceStore, twin: SpaceStore) -> None:
    """Of many ends of one turn one is stored."""
    session = await create(space)
    begun = await begin(space, session.id)

    won, lost = await race(
        store.end_turn(end_of(begun.turn, told(f"{n}"))) for n, store in enumerate([space, twin] * 6)
    )

    assert (len([end for end in won if end is not None]), lost) == (1, [])
    assert (await space.sessions([session.id]))[session.id].message_count == 2


async def test_cancelling_while_ending(space: SpaceStore, twin: SpaceStore) -> None:
    """A turn that ends while it is cancelled has ended, and says whether it was asked to."""
    session = await create(space)
    for _ in range(8):
        begun = await begin(space, session.id)

        ended, cancelled = await asyncio.gather(
            space.end_turn(failure_of(begun.turn)), twin.cancel_turn(begun.turn.id)
        )

        assert ended is not None
        stored = (await space.turns([begun.turn.id]))[begun.turn.id]
        assert not stored.is_open
        assert cancelled.cancel_requested == cancelled.is_open == stored.cancel_requested
