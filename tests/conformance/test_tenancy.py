"""TC05: who holds ids of another Space finds nothing there, changes nothing, and learns nothing."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from stello_graph.errors import ErrorCode, NotFound
from stello_graph.ids import new_id
from stello_graph.model.memory import InsightDraft, IntegrationDraft
from stello_graph.model.message import MessagePage, MessageRole
from stello_graph.model.session import Session
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import ImportDraft, SessionFilter
from stello_graph.ports import SpaceStore
from stello_graph.store.store import GraphStore
from tests.conformance.databases import Database
from tests.conformance.drafts import (
    ALL,
    LEASE,
    begin,
    child,
    create,
    end_of,
    exchange,
    fork_of,
    key,
    many,
    root,
    said,
    summary_of,
    told,
    transcript,
    usage,
)
from tests.conformance.invariants import check_invariants


@pytest.fixture
async def stranger(store: GraphStore, database: Database) -> AsyncIterator[SpaceStore]:
    """Another Space."""
    id = f"stranger-{new_id()}"
    await store.ensure_space(id, "Stranger")
    yield store.in_space(id)
    check_invariants(database.snapshot(id))


@pytest.fixture
async def mine(space: SpaceStore) -> Session:
    """A session with all that a session can have, in `space`."""
    top = await create(space)
    await space.append(top.id, many(3), idempotency=key())
    await exchange(space, top.id)
    await space.create_session(child(top.id), None)
    await space.put_memory(top.id, "memory")
    await space.put_insight(top.id, "hint", None)
    await space.enter(top.id, "tab")
    await space.add_ref(top.id, (await create(space)).id)
    return (await space.sessions([top.id]))[top.id]


@pytest.mark.covers("TC05", "W40")
async def test_writes(space: SpaceStore, stranger: SpaceStore, mine: Session, database: Database) -> None:
    """No write of one Space reaches into another, and each says that there is no such thing."""
    own = await create(stranger)
    begun = await begin(space, mine.id)
    before = database.snapshot(space.space_id), database.snapshot(stranger.space_id)
    writes: list[Callable[[], Awaitable[Any]]] = [
        lambda: stranger.create_session(child(mine.id), None),
        lambda: stranger.fork(fork_of(mine.id, parent_id=own.id, through_seq=1), None),
        lambda: stranger.fork(fork_of(own.id, parent_id=mine.id), None),
        lambda: stranger.append(mine.id, many(1)),
        lambda: stranger.trim(mine.id, 0),
        lambda: stranger.begin_turn(mine.id, new_id(), said(), lease=LEASE, idempotency=None),
        lambda: stranger.cancel_turn(begun.turn.id),
        lambda: stranger.put_memory(mine.id, "x"),
        lambda: stranger.store_digest(mine.id, "x", revision=1, through_seq=0, usage=usage(1)),
        lambda: stranger.report_failure(mine.id, "COMPRESS", ErrorCode.INTERNAL, "x"),
        lambda: stranger.store_compression(mine.id, summary_of(1), usage=usage(1)),
        lambda: stranger.count_usage(mine.id, usage(1)),
        lambda: stranger.put_insight(mine.id, "x", None),
        lambda: stranger.put_insights([InsightDraft(session_id=id, content="x") for id in (own.id, mine.id)]),
        lambda: stranger.store_integration(
            mine.id, IntegrationDraft(synthesis="x", through_seq=1, revision=0)
        ),
        lambda: stranger.clear_insight(mine.id),
        lambda: stranger.update_session(mine.id, {"label": "x"}),
        lambda: stranger.set_status(mine.id, SessionStatus.ARCHIVED),
        lambda: stranger.delete_session(mine.id, 2, 10),
        lambda: stranger.enter(mine.id, "tab"),
        lambda: stranger.leave(mine.id, "tab"),
        lambda: stranger.add_ref(own.id, mine.id),
        lambda: stranger.add_ref(mine.id, own.id),
        lambda: stranger.remove_ref(mine.id, own.id),
        lambda: stranger.import_session(
            ImportDraft(id="x", label="x", source_id=mine.id, through_seq=1, turn_count=0, messages=())
        ),
    ]

    for write in writes:
        with pytest.raises(NotFound):
            await write()
    assert await stranger.end_turn(end_of(begun.turn, told())) is None
    assert not await stranger.store_rollup(mine.id, "x", through_seq=1, usage=usage(1))
    assert await stranger.renew_turn(begun.turn, lease=LEASE, partial="", round=0) is None

    assert (database.snapshot(space.space_id), database.snapshot(stranger.space_id)) == before


@pytest.mark.covers("TC05", "W40")
async def test_reads(space: SpaceStore, stranger: SpaceStore, mine: Session) -> None:
    """No read of one Space answers anything of another, not even that it is there."""
    turn = (await space.turns_of([mine.id], before=ALL, first=1))[mine.id][0]
    tree = SessionFilter(root_id=mine.id)

    assert await stranger.sessions([mine.id]) == {}
    assert await stranger.sessions_with_newest([mine.id], MessagePage(True, 0, ALL, 10, None)) == {}
    assert await stranger.list_sessions(SessionFilter(), after="", first=10) == []
    assert await stranger.list_sessions(tree, after="", first=10) == []
    assert await stranger.count_sessions(SessionFilter()) == await stranger.count_sessions(tree) == 0
    assert await stranger.nodes([mine.id]) == {}
    assert await stranger.children([None, mine.id], after=-1, first=10) == {None: [], mine.id: None}
    assert await stranger.ancestors([mine.id]) == {}
    assert await stranger.nodes_with_ancestors([mine.id]) == {}
    assert await stranger.siblings([mine.id], after=-1, first=10) == {}
    assert await stranger.refs([mine.id], first=10, offset=0) == {}
    assert await stranger.referenced_by([mine.id], first=10, offset=0) == {}
    assert await stranger.turns([turn.id]) == {}
    assert await stranger.turns_of([mine.id], before=ALL, first=10) == {mine.id: []}
    assert await stranger.turn_of_key(key()) is None
    assert await stranger.turns_by_status(turn.status, first=10) == []
    assert await stranger.turn_messages([turn.id]) == {}
    for page_of in (stranger.newest_messages, stranger.oldest_messages):
        assert await page_of([mine.id], after=0, before=ALL, first=ALL, roles=None) == {mine.id: []}
    assert await stranger.count_messages([mine.id], list(MessageRole)) == {mine.id: 0}
    assert await stranger.stored_transcripts([mine.id]) == {mine.id: {}}
    assert await stranger.tree(mine.id, 10) == []
    for which in (SessionFilter(), tree):
        page = await stranger.digests(which, changed_after=0, after="", first=10)
        assert (page.digests, page.event_seq) == ((), 0)
    star_map = await stranger.star_map(None, max_depth=None, max_nodes=10, include_archived=True)
    assert (star_map.node_count, star_map.event_seq) == (0, 0)


@pytest.mark.covers("TC05", "W40")
async def test_reads_that_fail(stranger: SpaceStore, mine: Session) -> None:
    """Reads of one thing say that there is no such thing."""
    reads: list[Callable[[], Awaitable[Any]]] = [
        lambda: stranger.conversation(mine.id),
        lambda: stranger.whole_conversation(mine.id),
        lambda: stranger.undigested(mine.id, 10),
        lambda: stranger.to_integrate(mine.id, 10),
        lambda: stranger.fork_source(mine.id, None, profile="p", idempotency=key()),
        lambda: stranger.open_turns_below(mine.id),
        lambda: stranger.star_map(mine.id, max_depth=None, max_nodes=10, include_archived=True),
    ]

    for read in reads:
        with pytest.raises(NotFound):
            await read()


async def test_the_same_ids(space: SpaceStore, stranger: SpaceStore, mine: Session) -> None:
    """Two Spaces may use the same ids, for different things."""
    before = await transcript(space, mine.id)
    theirs = await stranger.create_session(root("Theirs", id=mine.id), key())
    await stranger.append(theirs.id, [told("theirs")], idempotency=key("append"))
    await stranger.enter(theirs.id, "tab")
    made = await stranger.fork(fork_of(theirs.id, through_seq=1), None)

    assert (await stranger.sessions([mine.id]))[mine.id].label == "Theirs"
    assert (await space.sessions([mine.id]))[mine.id] == mine
    assert await transcript(space, mine.id) == before
    await stranger.delete_session(theirs.id, 2, 10)
    assert await stranger.sessions([theirs.id, made.id]) == {}
    assert (await space.sessions([mine.id]))[mine.id] == mine
    assert (await space.star_map(None, max_depth=None, max_nodes=10, include_archived=True)).node_count == 3


async def test_spaces_whose_ids_begin_alike(store: GraphStore) -> None:
    """Lists of a Space hold nothing of a Space whose id begins with its own."""
    id = f"t{new_id()}"
    ids = [id, f"{id}0", f"{id}-", f"{id[:-1]}"]
    spaces = []
    for one in ids:
        await store.ensure_space(one, one)
        spaces.append(store.in_space(one))
        await create(spaces[-1], one)

    for one, space in zip(ids, spaces, strict=True):
        listed = await space.list_sessions(SessionFilter(), after="", first=10)
        page = await space.digests(SessionFilter(), changed_after=0, after="", first=10)
        assert [session.label for session in listed] == [digest.label for digest in page.digests] == [one]
        assert await space.count_sessions(SessionFilter()) == 1


@pytest.mark.covers("TC05")
async def test_a_space_that_was_never_made(store: GraphStore) -> None:
    """In a Space that does not exist there is nothing, and nothing can be made."""
    nowhere = store.in_space(f"never-{new_id()}")
    calls: list[Callable[[], Awaitable[Any]]] = [
        nowhere.space,
        lambda: nowhere.create_session(root(), None),
        lambda: nowhere.append("x", many(1)),
        lambda: nowhere.trim("x", 1),
        lambda: nowhere.delete_session("x", 1, 10),
        lambda: nowhere.import_session(ImportDraft(id="x", label="x", turn_count=0, messages=())),
        lambda: nowhere.star_map(None, max_depth=None, max_nodes=10, include_archived=True),
        lambda: nowhere.digests(SessionFilter(), changed_after=0, after="", first=10),
    ]

    for call in calls:
        with pytest.raises(NotFound):
            await call()
    assert await nowhere.list_sessions(SessionFilter(), after="", first=10) == []
    assert await nowhere.children([None], after=-1, first=10) == {None: []}
