import pytest

from stello_graph.errors import ErrorCode, NotFound, SessionArchived, SessionBusy
from stello_graph.ids import new_id
from stello_graph.model.message import MessageRole, MessageState
from stello_graph.model.turn import StopReason, TurnError, TurnStatus
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import TurnBegun
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import (
    ALL,
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
    tool_group,
    transcript,
    usage,
)


async def test_beginning(space: SpaceStore) -> None:
    """A turn holds its session, and its user message is stored."""
    session = await create(space)

    begun = await begin(space, session.id, "Hello")

    assert (begun.turn.status, begun.turn.number, begun.turn.session_id) == (
        TurnStatus.RUNNING,
        1,
        session.id,
    )
    assert (begun.turn.first_seq, begun.turn.last_seq, begun.turn.ended_at) == (1, 1, None)
    assert (begun.user_message.seq, begun.user_message.role, begun.user_message.content) == (
        1,
        MessageRole.USER,
        "Hello",
    )
    assert begun.user_message.turn_id == begun.turn.id
    assert await transcript(space, session.id) == [begun.user_message]
    held = (await space.sessions([session.id]))[session.id]
    assert (held.open_turn_id, held.message_count, held.turn_count) == (begun.turn.id, 1, 0)
    assert (await space.turns([begun.turn.id]))[begun.turn.id] == begun.turn


async def test_what_compiling_needs(space: SpaceStore) -> None:
    """A turn begins with all that compiling needs: the session, the settings, the transcript before it."""
    session = await create(space, system_prompt="p", tags=("t",), metadata={"a": 1})
    first = await begin(space, session.id)
    await space.end_turn(end_of(first.turn, told(), usage=usage(5)))
    await space.put_memory(session.id, "memory")
    await space.put_insight(session.id, "hint", "somebody")

    begun = await begin(space, session.id, "More")

    assert begun.conversation.session == (await space.sessions([session.id]))[session.id]
    assert begun.conversation.config == (await space.space()).config
    assert [*begun.conversation.transcript, begun.user_message] == await transcript(space, session.id)
    assert texts(begun.conversation.transcript) == ["Hello", "Hi"]


async def test_one_at_a_time(space: SpaceStore, database: Database) -> None:
    """A session that a turn holds takes no other, and says which turn it is."""
    session = await create(space)
    begun = await begin(space, session.id)
    before = database.snapshot(space.space_id)

    with pytest.raises(SessionBusy) as caught:
        await begin(space, session.id)

    assert caught.value.details == {"turnId": begun.turn.id}
    assert database.snapshot(space.space_id) == before


async def test_ending(space: SpaceStore) -> None:
    """The end stores the last messages, counts the turn and frees the session."""
    session = await create(space)
    begun = await begin(space, session.id)

    ended = await space.end_turn(end_of(begun.turn, told("Hi", turn_id=begun.turn.id), tool_rounds=2))

    assert ended is not None
    turn, messages = ended
    assert (turn.status, turn.stop_reason, turn.tool_rounds) == (
        TurnStatus.COMPLETED,
        StopReason.END_TURN,
        2,
    )
    assert (turn.first_seq, turn.last_seq, turn.partial) == (1, 2, "")
    assert turn.ended_at is not None
    assert turn.ended_at >= turn.started_at
    assert messages == (await transcript(space, session.id))[1:]
    free = (await space.sessions([session.id]))[session.id]
    assert (free.open_turn_id, free.message_count, free.next_seq, free.turn_count) == (None, 2, 3, 1)
    node = (await space.nodes([session.id]))[session.id]
    assert (node.turn_count, node.last_active_at) == (1, free.last_active_at)
    assert (await space.turns([turn.id]))[turn.id] == turn


async def test_every_message_of_the_end_is_kept(space: SpaceStore) -> None:
    """A turn may end with several messages, with none, with calls and cancelled results."""
    session = await create(space)
    begun = await begin(space, session.id)
    call, result = tool_group(1)
    drafts = [
        call,
        result.model_copy(update={"state": MessageState.CANCELLED, "is_error": True}),
        told("Done."),
    ]

    ended = await space.end_turn(end_of(begun.turn, *drafts))

    assert ended is not None
    assert ended[1] == (await transcript(space, session.id))[1:]
    assert texts(ended[1]) == ["Let me look.", "result call-0", "Done."]
    assert ended[0].last_seq == 4
    silent = await space.end_turn(failure_of((await begin(space, session.id)).turn))
    assert silent is not None
    assert (silent[1], silent[0].last_seq) == ([], 5)


async def test_failing(space: SpaceStore) -> None:
    """A turn that did not complete has its error and is not counted; its messages are."""
    session = await create(space)
    begun = await begin(space, session.id)
    error = TurnError(code=ErrorCode.LLM_UNAVAILABLE, message="away 星", retryable=True)

    ended = await space.end_turn(failure_of(begun.turn, messages=(told("Hel"),), error=error))

    assert ended is not None
    assert (ended[0].status, ended[0].stop_reason, ended[0].error) == (
        TurnStatus.FAILED,
        StopReason.ERROR,
        error,
    )
    after = (await space.sessions([session.id]))[session.id]
    assert (after.turn_count, after.message_count) == (0, 2)


async def test_usage(space: SpaceStore) -> None:
    """What a turn took is its own, and is added to its session and to the Space."""
    session, other = await create(space), await create(space)
    for id, tokens in ((session.id, 10), (session.id, 20), (other.id, 30)):
        begun = await begin(space, id)
        ended = await space.end_turn(end_of(begun.turn, told(), usage=usage(tokens)))
        assert ended is not None
        assert ended[0].usage == usage(tokens)

    sessions = await space.sessions([session.id, other.id])
    assert sessions[session.id].usage == usage(10) + usage(20)
    assert sessions[other.id].usage == usage(30)
    assert (await space.space()).usage == usage(10) + usage(20) + usage(30)


async def test_an_ended_turn_stays_ended(space: SpaceStore, database: Database) -> None:
    """A turn ends once."""
    session = await create(space)
    begun = await begin(space, session.id)
    await space.end_turn(end_of(begun.turn, told()))
    before = database.snapshot(space.space_id)

    assert await space.end_turn(end_of(begun.turn, told("again"))) is None
    assert await space.renew_turn(begun.turn, lease=LEASE, partial="x", round=1) is None

    assert database.snapshot(space.space_id) == before


async def test_the_fence(space: SpaceStore) -> None:
    """Who holds another fence ends nothing and renews nothing."""
    session = await create(space)
    begun = await begin(space, session.id)
    stale = begun.turn.model_copy(update={"fence": begun.turn.fence - 1})

    assert await space.end_turn(end_of(stale, told())) is None
    assert await space.renew_turn(stale, lease=LEASE, partial="", round=0) is None
    assert (await space.turns([stale.id]))[stale.id] == begun.turn


async def test_archived(space: SpaceStore) -> None:
    """An archived session begins no turn; one that was archived meanwhile finishes its own."""
    session = await create(space)
    begun = await begin(space, session.id)
    await space.set_status(session.id, SessionStatus.ARCHIVED)

    assert await space.end_turn(end_of(begun.turn, told())) is not None
    with pytest.raises(SessionArchived):
        await begin(space, session.id)

    archived = (await space.sessions([session.id]))[session.id]
    assert (archived.turn_count, archived.message_count, archived.open_turn_id) == (1, 2, None)


@pytest.mark.covers("SES-5")
async def test_unknown(space: SpaceStore) -> None:
    """Sessions and turns must exist."""
    with pytest.raises(NotFound):
        await begin(space, "nobody")
    with pytest.raises(NotFound):
        await space.cancel_turn("nothing")

    assert await space.turns(["nothing"]) == {}
    assert await space.turn_messages(["nothing"]) == {}


async def test_the_turn_of_a_deleted_session(space: SpaceStore) -> None:
    """A turn goes with its session; its holder is told so."""
    session = await create(space)
    begun = await begin(space, session.id)
    await space.delete_session(session.id, 1, 10)

    assert await space.renew_turn(begun.turn, lease=LEASE, partial="", round=0) is None
    assert await space.end_turn(end_of(begun.turn, told())) is None
    assert await space.turns([begun.turn.id]) == {}


async def test_renewing(space: SpaceStore) -> None:
    """Renewing stores the text so far, and tells of a cancellation."""
    session = await create(space)
    begun = await begin(space, session.id)

    assert await space.renew_turn(begun.turn, lease=LEASE, partial="Hel 星", round=1) is False
    stored = (await space.turns([begun.turn.id]))[begun.turn.id]
    assert (stored.partial, stored.partial_round) == ("Hel 星", 1)

    asked = await space.cancel_turn(begun.turn.id)
    assert (asked.status, asked.cancel_requested) == (TurnStatus.RUNNING, True)
    assert await space.renew_turn(begun.turn, lease=LEASE, partial="Hello", round=1) is True


async def test_cancelling_what_ended(space: SpaceStore) -> None:
    """An ended turn is answered as it is."""
    session = await create(space)
    ended = await exchange(space, session.id)

    assert await space.cancel_turn(ended.id) == ended


async def test_turns_of_sessions(space: SpaceStore) -> None:
    """The newest turns before a number, oldest first, for each session."""
    one, two, silent = [(await create(space)).id for _ in range(3)]
    turns = [await exchange(space, one) for _ in range(4)]
    other = await exchange(space, two)
    ids = [one, two, silent, "nobody"]

    assert await space.turns_of(ids, before=ALL, first=2) == {
        one: turns[2:],
        two: [other],
        silent: [],
        "nobody": [],
    }
    assert await space.turns_of([one], before=3, first=5) == {one: turns[:2]}


async def test_the_turn_of_a_key(space: SpaceStore) -> None:
    """Found by key and input while it runs and afterwards; not by another input or use of it."""
    session = await create(space)
    turn_id = new_id()
    draft = said("Hello", turn_id=turn_id)
    begun = await space.begin_turn(session.id, turn_id, draft, lease=LEASE, idempotency=key("k"))
    assert isinstance(begun, TurnBegun)
    await space.append((await create(space)).id, [said()], idempotency=key("append"))

    assert await space.turn_of_key(key("k")) == begun.turn
    ended = await space.end_turn(end_of(begun.turn, told("Hi", turn_id=turn_id)))
    assert ended is not None
    assert await space.turn_of_key(key("k")) == ended[0]
    for other in (key("k", "another"), key("append"), key("nobody")):
        assert await space.turn_of_key(other) is None


async def test_messages_of_turns(space: SpaceStore) -> None:
    """What a turn wrote, from its user message to its last, as far as the session still has it."""
    session = await create(space)
    await space.append(session.id, many(2))
    first, second = await exchange(space, session.id, "a", "b"), await exchange(space, session.id, "c", "d")

    found = await space.turn_messages([first.id, second.id])
    assert {id: texts(messages) for id, messages in found.items()} == {
        first.id: ["a", "b"],
        second.id: ["c", "d"],
    }

    await space.trim(session.id, 3)
    found = await space.turn_messages([first.id, second.id])
    assert {id: texts(messages) for id, messages in found.items()} == {first.id: ["b"], second.id: ["c", "d"]}


async def test_beginning_again_after_a_lost_answer(space: SpaceStore) -> None:
    """The same begin, sent again, answers the same turn and stores nothing more."""
    session = await create(space)
    turn_id = new_id()
    draft = said(turn_id=turn_id)

    first = await space.begin_turn(session.id, turn_id, draft, lease=LEASE, idempotency=None)

    assert await space.begin_turn(session.id, turn_id, draft, lease=LEASE, idempotency=None) == first
