import time

import pytest

from stello_graph.errors import Conflict, NotFound, SessionArchived, SessionBusy
from stello_graph.model.message import MessagePage, MessageRole, MessageState
from stello_graph.model.values import SessionStatus
from stello_graph.ports import SpaceStore
from tests.conformance.drafts import (
    ALL,
    begin,
    create,
    fork_of,
    many,
    said,
    texts,
    told,
    tool_group,
    transcript,
    usage,
)

HARD = "星 🌌 é \" ' \\ \\n $x :x %s {} [] null \u2028 \u200d \r\n\t end"


async def test_places(space: SpaceStore) -> None:
    """Messages take the next places, from 1, in the order given."""
    session = await create(space)

    assert await space.append(session.id, many(3)) == (1, 3)
    assert await space.append(session.id, [said("four")]) == (4, 4)

    messages = await transcript(space, session.id)
    assert [message.seq for message in messages] == [1, 2, 3, 4]
    assert texts(messages) == ["message 1", "message 2", "message 3", "four"]


async def test_every_field_is_kept(space: SpaceStore) -> None:
    """A message comes back as it was given, whatever the characters."""
    session = await create(space)
    call, *results = tool_group(2)
    drafts = [
        said(HARD, parts=[{"type": "text", "text": HARD}, {"n": [1, None, 1.5, 2**53 + 1, True]}]),
        call.model_copy(update={"model": "m", "usage": usage(3), "turn_id": "t", "created_at": 5}),
        results[0].model_copy(update={"is_error": True, "state": MessageState.CANCELLED}),
        results[1],
        told("", parts=[], state=MessageState.TRUNCATED),
    ]

    await space.append(session.id, drafts)

    stored = await transcript(space, session.id)
    assert [message.session_id for message in stored] == [session.id] * 5
    for draft, message in zip(drafts, stored, strict=True):
        kept = {"created_at": draft.created_at or message.created_at}
        assert draft.model_dump() | kept == message.model_dump(exclude={"seq", "session_id"})


async def test_times(space: SpaceStore) -> None:
    """A message has the time that it was given, else the store's now."""
    session = await create(space)

    await space.append(session.id, [said(created_at=5), said()])

    given, now = [message.created_at for message in await transcript(space, session.id)]
    assert given == 5
    assert abs(now / 1_000_000 - time.time()) < 60


async def test_counters(space: SpaceStore) -> None:
    """Appending counts messages and the turns that they are, and is activity."""
    before = await create(space)

    await space.append(before.id, many(4), turns=2)

    after = (await space.sessions([before.id]))[before.id]
    assert (after.message_count, after.next_seq, after.turn_count) == (4, 5, 2)
    assert after.last_active_at >= before.last_active_at
    assert (await space.nodes([before.id]))[before.id].turn_count == 2


async def test_an_expected_end(space: SpaceStore) -> None:
    """Where an end is expected, a transcript that goes on is left alone."""
    session = await create(space)
    await space.append(session.id, many(2), expected_seq=1)

    with pytest.raises(Conflict):
        await space.append(session.id, many(2), expected_seq=1)

    assert await space.append(session.id, many(2), expected_seq=3) == (3, 4)


async def test_archived(space: SpaceStore) -> None:
    """An archived session takes no messages; it can be read."""
    session = await create(space)
    await space.append(session.id, many(2))
    await space.set_status(session.id, SessionStatus.ARCHIVED)

    with pytest.raises(SessionArchived):
        await space.append(session.id, many(1))

    assert len(await transcript(space, session.id)) == 2


async def test_busy(space: SpaceStore) -> None:
    """While a turn holds the session, nothing is appended."""
    session = await create(space)
    begun = await begin(space, session.id)

    with pytest.raises(SessionBusy) as caught:
        await space.append(session.id, many(1))

    assert caught.value.details == {"turnId": begun.turn.id}


async def test_unknown(space: SpaceStore) -> None:
    """Only a session that exists takes messages."""
    with pytest.raises(NotFound):
        await space.append("nobody", many(1))


async def test_newest(space: SpaceStore) -> None:
    """The newest page before a place, oldest first."""
    session = await create(space)
    await space.append(session.id, many(9))

    async def seqs(after: int = 0, before: int = ALL, first: int = 3) -> list[int]:
        page = await space.newest_messages([session.id], after=after, before=before, first=first, roles=None)
        return [message.seq for message in page[session.id]]

    assert await seqs() == [7, 8, 9]
    assert await seqs(before=7) == [4, 5, 6]
    assert await seqs(before=7, after=5) == [6]
    assert await seqs(before=1) == []
    assert await seqs(first=100) == list(range(1, 10))


async def test_newest_with_their_sessions(space: SpaceStore) -> None:
    """Sessions that exist are read with the page that they would be asked for next."""
    one, silent = [(await create(space)).id for _ in range(2)]
    await space.append(one, [*many(5), *tool_group(1)])
    tools = (MessageRole.TOOL,)

    for page in (
        MessagePage(newest=True, after=0, before=ALL, first=3, roles=None),
        MessagePage(newest=True, after=1, before=5, first=10, roles=None),
        MessagePage(newest=True, after=0, before=ALL, first=3, roles=tools),
    ):
        after, before, first, roles = page.after, page.before, page.first, page.roles
        found = await space.sessions_with_newest([one, silent, "nobody"], page)
        said = await space.newest_messages(
            [one, silent], after=after, before=before, first=first, roles=roles
        )
        sessions = await space.sessions([one, silent])

        assert found.keys() == {one, silent}
        for id, session in found.items():
            assert (session.page, list(session.messages)) == (page, said[id])
            assert session.model_dump(exclude={"page", "messages"}) == sessions[id].model_dump()


async def test_oldest(space: SpaceStore) -> None:
    """The oldest page after a place."""
    session = await create(space)
    await space.append(session.id, many(9))

    async def seqs(after: int = 0, before: int = ALL, first: int = 3) -> list[int]:
        page = await space.oldest_messages([session.id], after=after, before=before, first=first, roles=None)
        return [message.seq for message in page[session.id]]

    assert await seqs() == [1, 2, 3]
    assert await seqs(after=3) == [4, 5, 6]
    assert await seqs(after=3, before=5) == [4]
    assert await seqs(after=9) == []


async def test_roles(space: SpaceStore) -> None:
    """A page is filled from the roles that are asked for, and these are counted."""
    session = await create(space)
    await space.append(session.id, [said("1"), *tool_group(1), told("4"), said("5")])
    roles = [MessageRole.USER, MessageRole.TOOL]

    newest = await space.newest_messages([session.id], after=0, before=ALL, first=2, roles=roles)
    oldest = await space.oldest_messages([session.id], after=0, before=ALL, first=2, roles=roles)

    assert [message.seq for message in newest[session.id]] == [3, 5]
    assert [message.seq for message in oldest[session.id]] == [1, 3]
    assert await space.count_messages([session.id], roles) == {session.id: 3}
    assert await space.count_messages([session.id], []) == {session.id: 0}


async def test_several_sessions_at_once(space: SpaceStore) -> None:
    """Each session has a page of its own; one that is unknown or silent has an empty one."""
    one, two, silent = [(await create(space)).id for _ in range(3)]
    await space.append(one, many(3))
    await space.append(two, [said("two")])
    ids = [one, two, silent, "nobody"]

    page = await space.newest_messages(ids, after=0, before=ALL, first=2, roles=None)

    assert {id: texts(page[id]) for id in ids} == {
        one: ["message 2", "message 3"],
        two: ["two"],
        silent: [],
        "nobody": [],
    }
    assert await space.count_messages(ids, list(MessageRole)) == {one: 3, two: 1, silent: 0, "nobody": 0}


async def test_conversation(space: SpaceStore) -> None:
    """A conversation is the session, its Space's settings and the whole transcript."""
    session = await create(space, system_prompt="p", metadata={"a": 1})
    await space.append(session.id, [said("1"), *tool_group(2), told("5")])
    made = await space.fork(fork_of(session.id, through_seq=5), None)

    conversation = await space.conversation(made.id)

    assert conversation.session == (await space.sessions([made.id]))[made.id]
    assert conversation.config == (await space.space()).config
    assert list(conversation.transcript) == await transcript(space, session.id)
    assert await space.whole_conversation(made.id) == conversation


async def test_an_unknown_conversation(space: SpaceStore) -> None:
    """A session that does not exist has no conversation, not an empty one."""
    with pytest.raises(NotFound):
        await space.conversation("nobody")
    with pytest.raises(NotFound):
        await space.whole_conversation("nobody")


async def test_a_long_message(space: SpaceStore) -> None:
    """A message of 1 MiB is kept whole."""
    session = await create(space)

    await space.append(session.id, [said("星" * 350_000)])

    assert texts(await transcript(space, session.id)) == ["星" * 350_000]
