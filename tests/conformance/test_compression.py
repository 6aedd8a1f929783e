import json

import pytest

from stello_graph.errors import Conflict, ErrorCode, NotFound, SessionArchived, SessionBusy
from stello_graph.model.session import Session
from stello_graph.model.values import SessionStatus
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import begin, create, end_of, many, summary_of, texts, told, usage
from tests.conformance.racing import race


async def talked(space: SpaceStore, count: int = 6) -> Session:
    session = await create(space)
    await space.append(session.id, many(count))
    return session


async def test_a_compression(space: SpaceStore) -> None:
    """A summary is stored with what it covers; what it took counts for session and Space."""
    session = await talked(space)

    stored = await space.store_compression(session.id, summary_of(4), usage=usage(7))

    made = stored.compression
    assert made is not None
    assert (made.summary, made.through_seq, made.tokens) == ("摘要", 4, 2)
    assert made.created_at == stored.updated_at
    assert stored.usage == usage(7) == (await space.space()).usage
    assert (await space.sessions([session.id]))[session.id] == stored


async def test_its_event(space: SpaceStore, database: Database) -> None:
    """A compression is a change of the session, which its digest's number tells of."""
    session = await talked(space)

    stored = await space.store_compression(session.id, summary_of(4), usage=usage(7))

    event = max(database.snapshot(space.space_id)["event"], key=lambda row: int(row["seq"]))
    assert (event["type"], event["nodeId"]) == ("SESSION_UPDATED", session.id)
    assert event["seq"] == stored.event_seq
    assert '"throughSeq":4' in event["data"]


@pytest.mark.covers("CMP-5")
async def test_what_is_read_after_it(space: SpaceStore) -> None:
    """A conversation is read from after the summary on; nothing of the transcript is gone."""
    session = await talked(space)
    await space.store_compression(session.id, summary_of(4), usage=usage(1))

    rest = await space.conversation(session.id)
    whole = await space.whole_conversation(session.id)
    begun = await begin(space, session.id)

    assert texts(rest.transcript) == ["message 5", "message 6"]
    assert len(whole.transcript) == 6
    assert texts(begun.conversation.transcript) == ["message 5", "message 6"]
    assert begun.conversation.session.compression == rest.session.compression


async def test_extending(space: SpaceStore) -> None:
    """The next summary takes the place of the one that it extends, and of no other."""
    session = await talked(space)
    await space.store_compression(session.id, summary_of(2), usage=usage(1))

    extended = await space.store_compression(session.id, summary_of(5, extends=2), usage=usage(1))

    assert extended.compression is not None
    assert extended.compression.through_seq == 5
    for late in (summary_of(6), summary_of(6, extends=2), summary_of(6, extends=6)):
        with pytest.raises(Conflict):
            await space.store_compression(session.id, late, usage=usage(1))
    assert (await space.sessions([session.id]))[session.id].compression == extended.compression


async def test_beyond_the_end(space: SpaceStore) -> None:
    """A summary covers what is there."""
    session = await talked(space)

    with pytest.raises(Conflict):
        await space.store_compression(session.id, summary_of(7), usage=usage(1))


@pytest.mark.covers("W6")
async def test_a_trim_meanwhile(space: SpaceStore, database: Database) -> None:
    """W6: what was summarised and then trimmed away does not come back as a summary."""
    session = await talked(space)
    await space.trim(session.id, 4)
    before = database.snapshot(space.space_id)

    with pytest.raises(Conflict):
        await space.store_compression(session.id, summary_of(4), usage=usage(1))

    assert database.snapshot(space.space_id) == before


@pytest.mark.covers("W6")
async def test_a_trim_drops_it(space: SpaceStore) -> None:
    """A trim drops a summary of what goes; as many messages as before do not bring it back."""
    session = await talked(space)
    await space.store_compression(session.id, summary_of(4), usage=usage(1))

    await space.trim(session.id, 3)
    await space.append(session.id, many(3))

    rest = await space.conversation(session.id)
    assert rest.session.compression is None
    assert len(rest.transcript) == 6
    with pytest.raises(Conflict):
        await space.store_compression(session.id, summary_of(5, extends=4), usage=usage(1))


async def test_by_the_turn_that_holds_it(space: SpaceStore) -> None:
    """While a turn runs only this turn compresses, also where the session was archived meanwhile."""
    session = await talked(space)
    begun = await begin(space, session.id)

    with pytest.raises(SessionBusy) as busy:
        await space.store_compression(session.id, summary_of(4), usage=usage(1))
    assert busy.value.details["turnId"] == begun.turn.id

    await space.set_status(session.id, SessionStatus.ARCHIVED)
    stored = await space.store_compression(session.id, summary_of(4), usage=usage(1), turn=begun.turn)
    assert stored.compression is not None


async def test_by_a_turn_that_lost_it(space: SpaceStore, database: Database) -> None:
    """Who does not hold the session any more writes nothing."""
    session = await talked(space)
    begun = await begin(space, session.id)
    older = begun.turn.model_copy(update={"fence": begun.turn.fence - 1})
    before = database.snapshot(space.space_id)

    with pytest.raises(Conflict, match="held"):
        await space.store_compression(session.id, summary_of(4), usage=usage(1), turn=older)
    assert database.snapshot(space.space_id) == before

    await space.end_turn(end_of(begun.turn, told()))
    with pytest.raises(Conflict, match="held"):
        await space.store_compression(session.id, summary_of(4), usage=usage(1), turn=begun.turn)


async def test_refusals(space: SpaceStore, database: Database) -> None:
    """Archived and unknown sessions are not compressed."""
    session = await talked(space)
    await space.set_status(session.id, SessionStatus.ARCHIVED)
    before = database.snapshot(space.space_id)

    with pytest.raises(SessionArchived):
        await space.store_compression(session.id, summary_of(4), usage=usage(1))
    with pytest.raises(NotFound):
        await space.store_compression("nobody", summary_of(4), usage=usage(1))

    assert database.snapshot(space.space_id) == before


async def test_by_several_at_once(space: SpaceStore) -> None:
    """Of several that extend the same summary one is stored, and counted once."""
    session = await talked(space)
    drafts = [summary_of(2 + n % 4, summary=str(n)) for n in range(8)]

    won, lost = await race(space.store_compression(session.id, draft, usage=usage(1)) for draft in drafts)

    assert len(won) == 1
    assert {type(error) for error in lost} == {Conflict}
    assert (await space.sessions([session.id]))[session.id].usage == usage(1)


async def test_a_trim_at_the_same_time(space: SpaceStore) -> None:
    """Trim and compress at once: afterwards either no summary stands, or all that it covers is there."""
    for _ in range(5):
        session = await talked(space)

        await race(
            [
                space.store_compression(session.id, summary_of(4), usage=usage(1)),
                space.trim(session.id, 4),
            ]
        )

        after = (await space.sessions([session.id]))[session.id]
        assert (after.compression, after.message_count) == (None, 4)


async def test_a_failure(space: SpaceStore, database: Database) -> None:
    """A failed task is told by an event of its session, also of an archived one, and changes nothing else."""
    session = await talked(space)
    await space.set_status(session.id, SessionStatus.ARCHIVED)
    before = await space.sessions([session.id])

    await space.report_failure(session.id, "COMPRESS", ErrorCode.LLM_UNAVAILABLE, "away")

    event = max(database.snapshot(space.space_id)["event"], key=lambda row: int(row["seq"]))
    assert (event["type"], event["nodeId"]) == ("TASK_FAILED", session.id)
    assert json.loads(event["data"]) == {"task": "COMPRESS", "code": "LLM_UNAVAILABLE", "message": "away"}
    assert await space.sessions([session.id]) == before
    with pytest.raises(NotFound):
        await space.report_failure("nobody", "COMPRESS", ErrorCode.INTERNAL, "x")
