"""What a turn stores between its begin and its end, and how it waits for a confirmation."""

import asyncio
from collections.abc import Sequence

import pytest

from stello_graph.errors import Conflict, ErrorCode, NotFound, SessionBusy, TurnHasEnded
from stello_graph.model.message import Draft, Message, ToolCall
from stello_graph.model.turn import StopReason, Turn, TurnStatus
from stello_graph.ports import SpaceStore
from stello_graph.store.store import GraphStore
from tests.conformance.conftest import OpenEngine
from tests.conformance.databases import Database
from tests.conformance.drafts import (
    LEASE,
    begin,
    create,
    end_of,
    failure_of,
    told,
    tool_group,
    transcript,
    usage,
)
from tests.conformance.racing import race


async def stored_in(
    space: SpaceStore, turn: Turn, messages: Sequence[Draft], rounds: int = 0, asks: Sequence[ToolCall] = ()
) -> tuple[Turn, list[Message]]:
    stored = await space.store_messages(
        turn, messages, lease=LEASE, usage=usage(rounds + 1), tool_rounds=rounds, asks=asks
    )
    assert stored is not None
    return stored


async def asking(space: SpaceStore, calls: int = 2) -> Turn:
    """A turn whose calls all need a confirmation, and that waits."""
    session = await create(space)
    begun = await begin(space, session.id)
    said = tool_group(calls)[0]
    turn, _ = await stored_in(space, begun.turn, [said], asks=said.tool_calls)
    waiting = await space.wait_turn(turn, [])
    assert waiting is not None
    return waiting


async def answer(
    space: SpaceStore, turn: Turn, call: str, approve: bool = True, reason: str = ""
) -> tuple[Turn, bool]:
    return await space.confirm_call(turn.id, call, approve=approve, reason=reason, lease=LEASE)


@pytest.mark.covers("W9", "W26")
async def test_a_round_is_stored(space: SpaceStore) -> None:
    """The reply, then its results together; the turn keeps its rounds and usage; the end counts them once."""
    session = await create(space)
    begun = await begin(space, session.id)
    said, *results = tool_group(2)

    turn, stored = await stored_in(space, begun.turn, [said])
    assert (turn.status, turn.last_seq, turn.tool_rounds, turn.usage) == (TurnStatus.RUNNING, 2, 0, usage(1))
    turn, more = await stored_in(space, turn, results, rounds=1)
    assert (turn.last_seq, turn.tool_rounds, turn.usage) == (4, 1, usage(2))
    assert [*stored, *more] == (await transcript(space, session.id))[1:]
    assert (await space.turns([turn.id]))[turn.id] == turn
    assert (await space.sessions([session.id]))[session.id].usage.llm_calls == 0

    ended = await space.end_turn(end_of(turn, told("Done."), tool_rounds=1, usage=usage(3)))
    assert ended is not None
    assert (ended[0].last_seq, ended[0].tool_rounds, ended[0].usage) == (5, 1, usage(3))
    held = (await space.sessions([session.id]))[session.id]
    assert (held.usage, held.message_count, held.turn_count) == (usage(3), 5, 1)
    assert (await space.space()).usage == usage(3)


async def test_storing_renews(space: SpaceStore) -> None:
    """A round's write renews the lease and clears the partial text."""
    session = await create(space)
    begun = await begin(space, session.id, lease=0.3)
    await space.renew_turn(begun.turn, lease=0.3, partial="so far", round=0)
    turn, _ = await stored_in(space, begun.turn, [told("so far, and more")])
    await asyncio.sleep(0.4)
    assert turn.partial == ""
    assert await space.renew_turn(turn, lease=LEASE, partial="", round=0) is False
    assert await space.end_turn(failure_of(turn, closing=True)) is None, "it lives"


async def test_closing_by_what_was_read_before(space: SpaceStore, database: Database) -> None:
    """Who closes a turn by an older state of it writes nothing, though its lease ran out again since."""
    session = await create(space)
    begun = await begin(space, session.id, lease=0)
    stored = await space.store_messages(begun.turn, [told("so far")], lease=0, usage=usage(1), tool_rounds=0)
    assert stored is not None
    before = database.snapshot(space.space_id)
    assert await space.end_turn(failure_of(begun.turn, closing=True, messages=(told("so"),))) is None
    assert database.snapshot(space.space_id) == before
    assert await space.end_turn(failure_of(stored[0], closing=True)) is not None


async def test_who_lost_the_lease_stores_nothing(space: SpaceStore, database: Database) -> None:
    """A fence that is not the turn's, or an ended turn: None, and nothing is written."""
    session = await create(space)
    begun = await begin(space, session.id)
    await space.end_turn(failure_of(begun.turn))
    before = database.snapshot(space.space_id)

    for turn in (begun.turn, begun.turn.model_copy(update={"fence": 7})):
        late = await space.store_messages(turn, [told()], lease=LEASE, usage=usage(1), tool_rounds=1)
        assert late is None
        assert await space.wait_turn(turn, []) is None
    assert database.snapshot(space.space_id) == before


async def test_waiting(space: SpaceStore) -> None:
    """A turn that waits has no lease and holds its session; results that came are kept with it."""
    session = await create(space)
    begun = await begin(space, session.id)
    said, first, _ = tool_group(2)
    turn, _ = await stored_in(space, begun.turn, [said], asks=said.tool_calls[1:])
    assert turn.pending_tool_calls == said.tool_calls[1:]
    waiting = await space.wait_turn(turn, [first])

    assert waiting is not None
    assert (waiting.status, waiting.fence) == (TurnStatus.AWAITING_CONFIRMATION, 1)
    assert (waiting.pending_tool_calls, waiting.held_results) == (said.tool_calls[1:], (first,))
    assert (await space.turns([turn.id]))[turn.id] == waiting
    assert await space.renew_turn(waiting, lease=LEASE, partial="x", round=0) is None
    assert await space.end_turn(failure_of(waiting, closing=True)) is None, "nobody may close it"
    with pytest.raises(SessionBusy) as busy:
        await begin(space, session.id)
    assert busy.value.details == {"turnId": turn.id}
    assert await space.wait_turn(turn, [first]) == waiting, "the same write again"


async def test_the_last_answer_takes_the_turn(space: SpaceStore) -> None:
    """Each call is answered once; with the last the turn runs again under a new fence."""
    turn = await asking(space)

    noted, resumed = await answer(space, turn, "call-0")
    assert (resumed, noted.status, [call.id for call in noted.pending_tool_calls]) == (
        False,
        TurnStatus.AWAITING_CONFIRMATION,
        ["call-1"],
    )
    running, resumed = await answer(space, turn, "call-1", False, "too dangerous")
    assert (resumed, running.status, running.fence, running.pending_tool_calls) == (
        True,
        TurnStatus.RUNNING,
        2,
        (),
    )
    assert (running.approved_ids, running.refused_ids, running.refusals) == (
        ("call-0",),
        ("call-1",),
        ("too dangerous",),
    )
    assert await space.renew_turn(running, lease=LEASE, partial="", round=0) is False
    assert await space.end_turn(failure_of(turn)) is None, "the old fence is void"


async def test_answers_again(space: SpaceStore) -> None:
    """The same answer returns the turn in any state, the opposite is CONFLICT; late ones TURN_ENDED."""
    turn = await asking(space)
    await answer(space, turn, "call-0")
    assert (await answer(space, turn, "call-0"))[1] is False
    with pytest.raises(Conflict):
        await answer(space, turn, "call-0", False)
    with pytest.raises(NotFound):
        await answer(space, turn, "nobody's")
    with pytest.raises(NotFound):
        await space.confirm_call("no-turn", "call-0", approve=True, reason="", lease=LEASE)
    await space.cancel_turn(turn.id)
    closed = await space.end_turn(
        failure_of(turn, closing=True, status=TurnStatus.CANCELLED, stop_reason=StopReason.CANCELLED)
    )
    assert closed is not None, "a turn that waits and is cancelled has no holder: anybody closes it"
    assert (await answer(space, turn, "call-0"))[0] == closed[0]
    with pytest.raises(Conflict):
        await answer(space, turn, "call-0", False)
    with pytest.raises(TurnHasEnded) as late:
        await answer(space, turn, "call-1")
    assert late.value.code is ErrorCode.TURN_ENDED


async def test_answered_before_it_waits(space: SpaceStore) -> None:
    """Who answers while the other tools still run saves the turn its waiting."""
    session = await create(space)
    begun = await begin(space, session.id)
    said, first, _ = tool_group(2)
    turn, _ = await stored_in(space, begun.turn, [said], asks=said.tool_calls[1:])
    noted, resumed = await answer(space, turn, "call-1")
    assert (noted.status, resumed) == (TurnStatus.RUNNING, False)
    going = await space.wait_turn(turn, [first])
    assert going is not None
    assert (going.status, going.fence, going.approved_ids) == (TurnStatus.RUNNING, 1, ("call-1",))


async def test_cancelled_before_it_waits(space: SpaceStore) -> None:
    """A turn that is to be cancelled does not begin to wait."""
    session = await create(space)
    begun = await begin(space, session.id)
    said = tool_group(1)[0]
    turn, _ = await stored_in(space, begun.turn, [said], asks=said.tool_calls)
    await space.cancel_turn(turn.id)
    going = await space.wait_turn(turn, [])
    assert going is not None
    assert (going.status, going.cancel_requested) == (TurnStatus.RUNNING, True)


async def test_a_turn_that_waits_and_is_cancelled_is_found(space: SpaceStore, store: GraphStore) -> None:
    """Whoever looks for dead turns finds it; the next turn of the session closes it first."""
    turn = await asking(space)
    assert (space.space_id, turn.id) not in await store.expired_turns(10_000)
    await space.cancel_turn(turn.id)
    assert (space.space_id, turn.id) in await store.expired_turns(10_000)


async def test_one_of_many_answers_takes_it(space: SpaceStore, open_engine: OpenEngine) -> None:
    """Twenty answers at once, from several processes: one resumes the turn; the opposite ones lose."""
    turn = await asking(space, 4)
    others = [GraphStore(open_engine()).in_space(space.space_id) for _ in range(4)]
    for number in range(3):
        await answer(space, turn, f"call-{number}")

    won, lost = await race(answer(other, turn, "call-3", n % 2 == 0) for n in range(5) for other in others)

    assert len([resumed for _, resumed in won if resumed]) == 1
    assert {type(error) for error in lost} == {Conflict}
    assert len(won) + len(lost) == 20
    stored = (await space.turns([turn.id]))[turn.id]
    assert (stored.fence, stored.status) == (2, TurnStatus.RUNNING)


async def test_deleting_what_waits(space: SpaceStore) -> None:
    """A session with a waiting turn goes with all of it."""
    turn = await asking(space)
    await space.cancel_turn(turn.id)
    assert await space.delete_session(turn.session_id, 1, 10) == [turn.session_id]
    with pytest.raises(NotFound):
        await answer(space, turn, "call-0")
