import pytest

from stello_graph.errors import NotFound, SessionArchived, SessionBusy
from stello_graph.model.values import SessionStatus
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import begin, create, fork_of, many, said, told, tool_group, transcript


async def seqs(space: SpaceStore, session_id: str) -> list[int]:
    return [message.seq for message in await transcript(space, session_id)]


@pytest.mark.covers("MSG-2")
async def test_keeps_the_newest(space: SpaceStore, database: Database) -> None:
    """Trimming keeps the newest messages under their numbers; the others are gone."""
    session = await create(space)
    await space.append(session.id, many(5))

    trimmed = await space.trim(session.id, 2)

    assert (trimmed.message_count, trimmed.next_seq) == (2, 6)
    assert await seqs(space, session.id) == [4, 5]
    assert len(database.snapshot(space.space_id)["message"]) == 2


@pytest.mark.parametrize(("keep_last", "kept"), [(1, 1), (2, 4), (3, 4), (4, 4)])
async def test_whole_tool_groups(space: SpaceStore, keep_last: int, kept: int) -> None:
    """A tool group is kept whole where a part of it is kept."""
    session = await create(space)
    await space.append(session.id, [said(), *tool_group(2), told("done")])

    await space.trim(session.id, keep_last)

    assert await seqs(space, session.id) == [1, 2, 3, 4, 5][-kept:]


@pytest.mark.covers("MSG-2")
async def test_keeping_nothing(space: SpaceStore, database: Database) -> None:
    """Trimming to 0 empties a session; it goes on where it was."""
    session = await create(space)
    await space.append(session.id, [said(), *tool_group(2)])

    trimmed = await space.trim(session.id, 0)

    assert (trimmed.message_count, trimmed.next_seq) == (0, 5)
    assert database.snapshot(space.space_id)["message"] == []
    assert await space.append(session.id, many(1)) == (5, 5)


@pytest.mark.covers("MSG-2")
@pytest.mark.parametrize("keep_last", [3, 4, 1_000])
async def test_keeping_all(space: SpaceStore, database: Database, keep_last: int) -> None:
    """Nothing happens where there is nothing to trim."""
    session = await create(space)
    await space.append(session.id, many(3))
    before = database.snapshot(space.space_id)

    await space.trim(session.id, keep_last)

    assert database.snapshot(space.space_id) == before


async def test_trimming_again(space: SpaceStore) -> None:
    """A trimmed session can be trimmed further."""
    session = await create(space)
    await space.append(session.id, many(5))

    for keep_last in (4, 3, 3, 1):
        await space.trim(session.id, keep_last)
        assert len(await seqs(space, session.id)) == keep_last


async def test_an_empty_session(space: SpaceStore, database: Database) -> None:
    """A session without messages stays as it is."""
    session = await create(space)
    before = database.snapshot(space.space_id)

    await space.trim(session.id, 0)

    assert database.snapshot(space.space_id) == before


async def test_shared_messages_stay(space: SpaceStore, database: Database) -> None:
    """A message goes when the last session that has it gives it up."""
    session = await create(space)
    await space.append(session.id, many(4))
    made = await space.fork(fork_of(session.id, through_seq=2), None)

    await space.trim(session.id, 0)

    assert await seqs(space, made.id) == [1, 2]
    await space.trim(made.id, 1)
    assert [row["content"] for row in database.snapshot(space.space_id)["message"]] == ["message 2"]


async def test_refusals(space: SpaceStore) -> None:
    """A session that is unknown, held by a turn or archived is not trimmed."""
    session = await create(space)
    await space.append(session.id, many(3))

    with pytest.raises(NotFound):
        await space.trim("nobody", 1)
    await space.set_status(session.id, SessionStatus.ARCHIVED)
    with pytest.raises(SessionArchived):
        await space.trim(session.id, 1)
    await space.set_status(session.id, SessionStatus.ACTIVE)
    begun = await begin(space, session.id)
    with pytest.raises(SessionBusy) as caught:
        await space.trim(session.id, 1)

    assert caught.value.details == {"turnId": begun.turn.id}
    assert await seqs(space, session.id) == [1, 2, 3, 4]
