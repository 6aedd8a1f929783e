import pytest

from stello_graph.errors import Conflict, NotFound, SessionArchived
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import SessionFilter
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import begin, child, create, end_of, failure_of, told, usage

EVERYTHING = SessionFilter()


@pytest.mark.covers("MEM-7")
async def test_memory(space: SpaceStore) -> None:
    """Memory is replaced, also by nothing, and its revision grows with each write."""
    session = await create(space)

    first = await space.put_memory(session.id, "星")
    again = await space.put_memory(session.id, "")

    assert (first.memory, first.memory_revision) == ("星", 1)
    assert (again.memory, again.memory_revision) == ("", 2)
    assert (await space.sessions([session.id]))[session.id] == again


async def test_a_digest(space: SpaceStore) -> None:
    """What consolidating gave is stored, and what it took is counted for session and Space."""
    session = await create(space)

    stored = await space.store_digest(session.id, "digest", revision=0, through_seq=0, usage=usage(7))

    assert (stored.memory, stored.memory_revision, stored.usage) == ("digest", 1, usage(7))
    assert (await space.space()).usage == usage(7)


async def test_when_a_memory_changed(space: SpaceStore) -> None:
    """A digest tells since which event it is news; insights, turns and the same text do not move that."""
    root = await create(space)
    below = await create(space, parent_id=root.id)
    put = await space.put_memory(below.id, "known")
    await space.put_insight(below.id, "look", None)
    await space.end_turn(end_of((await begin(space, below.id)).turn, told()))

    for which in (EVERYTHING, SessionFilter(root_id=root.id)):
        page = await space.digests(which, changed_after=0, after="", first=10)
        found = {one.id: (one.memory_seq, one.event_seq > put.event_seq) for one in page.digests}
        assert found == {root.id: (0, False), below.id: (put.event_seq, True)}
    same = await space.put_memory(below.id, "known")
    again = await space.store_digest(below.id, "known", revision=2, through_seq=2, usage=usage(1))
    page = await space.digests(EVERYTHING, changed_after=put.event_seq, after="", first=10)
    assert [one.memory_seq for one in page.digests if one.id == below.id] == [put.event_seq], "no news"
    assert again.event_seq > same.event_seq > put.event_seq


async def test_a_digest_that_comes_late(space: SpaceStore, database: Database) -> None:
    """Memory that somebody put meanwhile is not overwritten by a digest."""
    session = await create(space)
    await space.put_memory(session.id, "by hand")
    before = database.snapshot(space.space_id)

    with pytest.raises(Conflict):
        await space.store_digest(session.id, "digest", revision=0, through_seq=0, usage=usage(7))

    assert database.snapshot(space.space_id) == before


@pytest.mark.covers("INS-2")
async def test_an_insight(space: SpaceStore) -> None:
    """A pending insight is replaced by the next; each has its source, time and revision."""
    session = await create(space)

    first = (await space.put_insight(session.id, "one", "somebody")).insight
    second = (await space.put_insight(session.id, "two", None)).insight

    assert first is not None
    assert second is not None
    assert (first.content, first.source_session_id, first.revision) == ("one", "somebody", 1)
    assert (second.content, second.source_session_id, second.revision) == ("two", None, 2)
    assert second.put_at >= first.put_at


@pytest.mark.covers("INS-4")
async def test_clearing_an_insight(space: SpaceStore, database: Database) -> None:
    """An insight can be taken back; without one nothing happens."""
    session = await create(space)
    await space.put_insight(session.id, "hint", "somebody")

    assert (await space.clear_insight(session.id)).insight is None

    before = database.snapshot(space.space_id)
    assert (await space.clear_insight(session.id)).insight is None
    assert database.snapshot(space.space_id) == before


@pytest.mark.covers("INS-1")
async def test_a_completed_turn_takes_its_insight(space: SpaceStore) -> None:
    """A turn is begun with the pending insight, which goes when the turn completes."""
    session = await create(space)
    await space.put_insight(session.id, "hint", None)

    begun = await begin(space, session.id)
    assert begun.insight_revision == 1
    assert begun.conversation.session.insight is not None
    assert begun.conversation.session.insight.content == "hint"

    await space.end_turn(end_of(begun.turn, told()))
    assert (await space.sessions([session.id]))[session.id].insight is None
    assert (await begin(space, session.id)).insight_revision is None


@pytest.mark.covers("W3")
async def test_a_failed_turn_leaves_it(space: SpaceStore) -> None:
    """An insight stays where its turn did not complete, and the next turn has it."""
    session = await create(space)
    put = await space.put_insight(session.id, "hint", None)

    begun = await begin(space, session.id)
    await space.end_turn(failure_of(begun.turn))

    assert (await space.sessions([session.id]))[session.id].insight == put.insight
    assert (await begin(space, session.id)).insight_revision == 1


@pytest.mark.covers("W3")
async def test_an_insight_put_during_a_turn_stays(space: SpaceStore) -> None:
    """A turn takes the insight that it began with and no other."""
    session = await create(space)
    await space.put_insight(session.id, "old", None)
    with_old = await begin(space, session.id)
    await space.put_insight(session.id, "new", None)
    await space.end_turn(end_of(with_old.turn, told()))

    pending = (await space.sessions([session.id]))[session.id].insight
    assert pending is not None
    assert pending.content == "new"

    await space.clear_insight(session.id)
    without = await begin(space, session.id)
    await space.put_insight(session.id, "newest", None)
    await space.end_turn(end_of(without.turn, told()))
    pending = (await space.sessions([session.id]))[session.id].insight
    assert pending is not None
    assert pending.content == "newest"


async def test_an_insight_taken_back_and_put_again(space: SpaceStore) -> None:
    """The same words put again during a turn are another insight."""
    session = await create(space)
    await space.put_insight(session.id, "hint", None)
    begun = await begin(space, session.id)
    await space.clear_insight(session.id)
    await space.put_insight(session.id, "hint", None)

    await space.end_turn(end_of(begun.turn, told()))

    assert (await space.sessions([session.id]))[session.id].insight is not None


@pytest.mark.covers("W21")
async def test_refusals(space: SpaceStore, database: Database) -> None:
    """Archived and unknown sessions take neither memory nor insight."""
    session = await create(space)
    await space.put_insight(session.id, "hint", None)
    await space.set_status(session.id, SessionStatus.ARCHIVED)
    before = database.snapshot(space.space_id)

    for id, error in ((session.id, SessionArchived), ("nobody", NotFound)):
        with pytest.raises(error):
            await space.put_memory(id, "m")
        with pytest.raises(error):
            await space.store_digest(id, "m", revision=0, through_seq=0, usage=usage(1))
        with pytest.raises(error):
            await space.put_insight(id, "i", None)
        with pytest.raises(error):
            await space.clear_insight(id)

    assert database.snapshot(space.space_id) == before


@pytest.mark.covers("INS-3", "MEM-6")
async def test_digests(space: SpaceStore) -> None:
    """Digests have what others may know of a session, and reading them takes no insight."""
    session = await create(space, "星")
    await space.put_memory(session.id, "memory")
    put = await space.put_insight(session.id, "hint", None)

    page = await space.digests(EVERYTHING, changed_after=0, after="", first=10)

    (digest,) = page.digests
    assert (digest.id, digest.label, digest.status) == (session.id, "星", SessionStatus.ACTIVE)
    assert (digest.memory, digest.rollup, digest.insight) == ("memory", None, "hint")
    assert (digest.updated_at, digest.event_seq) == (put.updated_at, put.event_seq)
    assert page.event_seq == put.event_seq == (await space.space()).event_seq
    assert (await space.sessions([session.id]))[session.id] == put


@pytest.mark.covers("W36")
async def test_pages_of_digests(space: SpaceStore) -> None:
    """Digests come by id, from after the one that is named, in pages."""
    ids = sorted([(await create(space)).id for _ in range(5)])

    async def page(after: str, first: int = 2) -> list[str]:
        found = await space.digests(EVERYTHING, changed_after=0, after=after, first=first)
        return [digest.id for digest in found.digests]

    assert await page("") == ids[:2]
    assert await page(ids[1]) == ids[2:4]
    assert await page(ids[3]) == ids[4:]
    assert await page(ids[4]) == []


@pytest.mark.covers("INT-7", "MEM-6", "W36")
async def test_filtered_digests(space: SpaceStore) -> None:
    """Digests of one status, of one tree, of what changed after an event."""
    top, other = await create(space), await create(space)
    below = await space.create_session(child(top.id), None)
    await space.set_status(below.id, SessionStatus.ARCHIVED)
    mark = (await space.space()).event_seq
    await space.put_memory(top.id, "memory")

    async def ids(which: SessionFilter, changed_after: int = 0) -> set[str]:
        found = await space.digests(which, changed_after=changed_after, after="", first=10)
        return {digest.id for digest in found.digests}

    assert await ids(EVERYTHING) == {top.id, other.id, below.id}
    assert await ids(SessionFilter(status=SessionStatus.ARCHIVED)) == {below.id}
    assert await ids(SessionFilter(root_id=top.id)) == {top.id, below.id}
    assert await ids(SessionFilter(root_id=top.id, status=SessionStatus.ACTIVE)) == {top.id}
    assert await ids(SessionFilter(root_id="nobody")) == set()
    assert await ids(EVERYTHING, mark) == {top.id}
    assert await ids(SessionFilter(root_id=top.id), mark) == {top.id}
    assert await ids(EVERYTHING, mark + 1) == set()
