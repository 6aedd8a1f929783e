"""Growing, linking, archiving and deleting from two processes at once."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from stello_graph.errors import Conflict, NotFound, SessionArchived, SessionBusy, StelloError
from stello_graph.ids import new_id
from stello_graph.model.values import SessionStatus
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import (
    begin,
    child,
    create,
    end_of,
    fork_of,
    key,
    many,
    root,
    said,
    summary_of,
    texts,
    told,
    transcript,
    usage,
)
from tests.conformance.racing import both, race


@pytest.mark.covers("W38", "W11")
async def test_children_of_one_parent(space: SpaceStore, twin: SpaceStore) -> None:
    """120 children made at once under one parent are all there, each in a place of its own."""
    top = await create(space)

    won, lost = await race(
        store.create_session(child(top.id, f"{n}"), None) for n, store in enumerate([space, twin] * 60)
    )

    assert (len(won), lost) == (120, [])
    nodes = (await space.children([top.id], after=-1, first=200))[top.id]
    assert nodes is not None
    assert [node.index for node in nodes] == list(range(120))
    assert (await space.nodes([top.id]))[top.id].child_count == 120


@pytest.mark.covers("W38")
async def test_roots(space: SpaceStore, twin: SpaceStore) -> None:
    """60 roots made at once are all there, each in a place of its own."""
    won, lost = await race(store.create_session(root(), None) for store in [space, twin] * 30)

    assert (len(won), lost) == (60, [])
    nodes = (await space.children([None], after=-1, first=100))[None]
    assert nodes is not None
    assert [node.index for node in nodes] == list(range(60))


@pytest.mark.parametrize("under_parent", [False, True])
async def test_one_id_given_to_many(space: SpaceStore, twin: SpaceStore, under_parent: bool) -> None:
    """Of many who create a session of one id, one does; the others are in conflict."""
    parent_id = (await create(space)).id if under_parent else None
    for _ in range(4):
        id = new_id()

        won, lost = await race(
            store.create_session(root(id=id, parent_id=parent_id), None) for store in [space, twin] * 5
        )

        assert [session.id for session in won] == [id]
        assert [type(error) for error in lost] == [Conflict] * 9


@pytest.mark.covers("W27")
async def test_one_id_created_and_forked(space: SpaceStore, twin: SpaceStore) -> None:
    """Creating and forking give an id once between them."""
    source = await create(space)
    for _ in range(6):
        id = new_id()

        won, lost = await race(
            [
                space.create_session(root(id=id), None),
                twin.fork(fork_of(source.id, id=id), None),
                space.create_session(child(source.id, id=id), None),
            ]
        )

        assert len(won) == 1
        assert [type(error) for error in lost] == [Conflict] * 2


async def test_one_key_for_many(space: SpaceStore, twin: SpaceStore) -> None:
    """One idempotency key sent many times makes one session, which all are answered."""
    source = await create(space)
    makers: list[Callable[[SpaceStore, str], Awaitable[Any]]] = [
        lambda store, name: store.create_session(root(), key(name)),
        lambda store, name: store.create_session(child(source.id), key(name)),
        lambda store, name: store.fork(fork_of(source.id), key(name)),
    ]
    for number, make in enumerate(makers):
        won, lost = await race(make(store, f"{number}") for store in [space, twin] * 10)

        assert (len({session.id for session in won}), lost) == (1, [])
    assert (await space.space()).session_count == 4


async def test_last_sharers_deleted_at_once(space: SpaceStore, twin: SpaceStore, database: Database) -> None:
    """When the last two sharers of messages are deleted at once, no message stays behind."""
    for _ in range(10):
        source, elsewhere = await create(space), await create(space)
        await space.append(source.id, many(10))
        made = await space.fork(fork_of(source.id, parent_id=elsewhere.id, through_seq=10), None)

        _, lost = await race([space.delete_session(source.id, 1, 10), twin.delete_session(made.id, 1, 10)])

        assert lost == []
        assert database.snapshot(space.space_id)["message"] == []


async def test_trimmed_and_deleted_at_once(space: SpaceStore, twin: SpaceStore, database: Database) -> None:
    """When one of the last two sharers is trimmed while the other is deleted, no message stays behind."""
    for _ in range(8):
        source, elsewhere = await create(space), await create(space)
        await space.append(source.id, many(10))
        made = await space.fork(fork_of(source.id, parent_id=elsewhere.id, through_seq=10), None)

        _, lost = await race([space.trim(source.id, 0), twin.delete_session(made.id, 1, 10)])

        assert lost == []
        assert database.snapshot(space.space_id)["message"] == []


async def test_deleting_against_growing(space: SpaceStore, twin: SpaceStore) -> None:
    """A child is made before its parent is deleted and goes with it, or is not made: none is left alone."""
    for round in range(15):
        top = await create(space)
        await space.append(top.id, many(3))
        middle = await space.create_session(child(top.id), None)
        grow: list[Callable[[], Awaitable[Any]]] = [
            lambda: twin.create_session(child(middle.id), None),  # noqa: B023
            lambda: twin.fork(fork_of(top.id, parent_id=middle.id, through_seq=3), None),  # noqa: B023
            lambda: twin.fork(fork_of(middle.id, opening=told()), None),  # noqa: B023
        ]

        deleted, grown = await both(space.delete_session(top.id, 2, 10), grow[round % 3]())

        if isinstance(deleted, StelloError):
            assert isinstance(deleted, Conflict), deleted
            assert not isinstance(grown, StelloError)
            deleted = await space.delete_session(top.id, 3, 10)
        else:
            assert isinstance(grown, NotFound), grown
        assert top.id in deleted
    assert (await space.space()).session_count == 0


@pytest.mark.covers("W27")
async def test_deleting_a_source_against_forking(
    space: SpaceStore, twin: SpaceStore, database: Database
) -> None:
    """A fork has all messages that it inherits, though its source is deleted meanwhile, or is not made."""
    for _ in range(10):
        source, elsewhere = await create(space), await create(space)
        await space.append(source.id, many(10))
        draft = fork_of(source.id, parent_id=elsewhere.id, through_seq=8)

        deleted, made = await both(space.delete_session(source.id, 1, 10), twin.fork(draft, None))

        assert deleted == [source.id]
        if isinstance(made, StelloError):
            assert isinstance(made, NotFound), made
            assert database.snapshot(space.space_id)["message"] == []
        else:
            assert texts(await transcript(space, made.id)) == texts(many(8))
            await space.delete_session(made.id, 1, 10)


async def test_deleting_overlapping_subtrees(space: SpaceStore, twin: SpaceStore) -> None:
    """Of a subtree and a part of it deleted at once each goes once."""
    for _ in range(8):
        top = await create(space)
        middle = await space.create_session(child(top.id), None)
        await space.create_session(child(middle.id), None)

        whole, part = await both(space.delete_session(top.id, 3, 10), twin.delete_session(middle.id, 2, 10))

        if isinstance(whole, StelloError):
            assert isinstance(whole, Conflict)
            assert whole.details == {"count": 1}
            assert not isinstance(part, StelloError)
            await space.delete_session(top.id, 1, 10)
        else:
            assert isinstance(part, NotFound)


async def test_deleting_against_all_that_writes(space: SpaceStore, twin: SpaceStore) -> None:
    """Whatever is written to a session while it is deleted is written before, or is not found."""

    async def converse(id: str, _: str) -> None:
        await twin.end_turn(end_of((await begin(twin, id)).turn, told()))

    writes: list[Callable[[str, str], Awaitable[Any]]] = [
        lambda id, _: twin.append(id, many(2)),
        converse,
        lambda id, _: begin(twin, id),
        lambda id, _: twin.put_memory(id, "m"),
        lambda id, _: twin.store_digest(id, "d", revision=0, through_seq=0, usage=usage(1)),
        lambda id, _: twin.store_compression(id, summary_of(1), usage=usage(1)),
        lambda id, _: twin.put_insight(id, "i", None),
        lambda id, _: twin.update_session(id, {"label": "x"}),
        lambda id, _: twin.set_status(id, SessionStatus.ARCHIVED),
        lambda id, _: twin.trim(id, 0),
        lambda id, other: twin.add_ref(id, other),
        lambda id, other: twin.add_ref(other, id),
        lambda id, _: twin.enter(id, "tab"),
        lambda id, _: twin.leave(id, "tab"),
    ]
    other = await create(space)
    for write in writes * 2:
        session = await create(space)
        await space.append(session.id, many(2))

        deleted, written = await both(space.delete_session(session.id, 1, 10), write(session.id, other.id))

        assert deleted == [session.id]
        assert isinstance(written, NotFound) or not isinstance(written, StelloError), written


async def test_inheriting_at_once(space: SpaceStore, twin: SpaceStore, database: Database) -> None:
    """Eight forks made at once of one source of 2,000 messages have them all, and copy none."""
    source = await create(space)
    await space.append(source.id, many(2_000))

    won, lost = await race(
        store.fork(fork_of(source.id, through_seq=2_000), None) for store in [space, twin] * 4
    )

    assert ([made.message_count for made in won], lost) == ([2_000] * 8, [])
    assert len(database.snapshot(space.space_id)["message"]) == 2_000


@pytest.mark.covers("TC10")
async def test_forking_while_the_source_goes_on(space: SpaceStore, twin: SpaceStore) -> None:
    """TC10: a fork at a message has the messages up to it and no more, whatever is appended meanwhile."""
    source = await create(space)
    await space.append(source.id, many(10))
    cuts = [10, 5, 10, 1, 10, 7]

    (made, refused), (appended, _) = await asyncio.gather(
        race(space.fork(fork_of(source.id, through_seq=cut), None) for cut in cuts),
        race(twin.append(source.id, [said(f"later {n}")]) for n in range(6)),
    )

    assert (refused, len(appended)) == ([], 6)
    forks = {session.id: cut for session, cut in zip(made, cuts, strict=True)}
    nodes = await space.nodes(list(forks))
    for id, cut in forks.items():
        assert texts(await transcript(space, id)) == texts(many(cut))
        assert (nodes[id].source_session_id, nodes[id].source_seq) == (source.id, cut)
    assert len(await transcript(space, source.id)) == 16


async def test_links_both_ways(space: SpaceStore, twin: SpaceStore) -> None:
    """Links made and removed in both directions at once all come to be, each once."""
    ids = [(await create(space)).id for _ in range(4)]
    pairs = [(a, b) for a in ids for b in ids if a != b]

    _, lost = await race(store.add_ref(a, b) for a, b in pairs for store in (space, twin, space))
    assert lost == []
    refs = await space.refs(ids, first=10, offset=0)
    assert {(a, node.id) for a, nodes in refs.items() for node in nodes} == set(pairs)

    _, lost = await race(store.remove_ref(a, b) for a, b in pairs for store in (space, twin))
    assert lost == []
    assert set(map(len, (await space.refs(ids, first=10, offset=0)).values())) == {0}


async def test_adding_against_removing(space: SpaceStore, twin: SpaceStore) -> None:
    """A link that is added and removed at once is there or not, the same from both sides."""
    one, two = await create(space), await create(space)
    for _ in range(8):
        _, lost = await race(
            [space.add_ref(one.id, two.id), twin.remove_ref(one.id, two.id), twin.add_ref(two.id, one.id)]
        )

        assert lost == []
        out = (await space.refs([one.id], first=10, offset=0))[one.id]
        back = (await space.referenced_by([two.id], first=10, offset=0))[two.id]
        assert [node.id for node in out] == [two.id] * len(back)


@pytest.mark.covers("TC20")
async def test_fifty_of_each_on_one_node(space: SpaceStore, twin: SpaceStore) -> None:
    """TC20: 50 children, 50 links and 50 insights at once on one node are all there, each once."""
    top = await create(space)
    others = [(await create(space)).id for _ in range(50)]
    calls: list[Awaitable[Any]] = []
    for n, other in enumerate(others):
        store = (space, twin)[n % 2]
        calls += [
            store.create_session(child(top.id), None),
            store.add_ref(top.id, other),
            store.put_insight(top.id, f"{n}", None),
        ]

    _, lost = await race(calls)

    assert lost == []
    children = (await space.children([top.id], after=-1, first=100))[top.id]
    assert children is not None
    assert [node.index for node in children] == list(range(50))
    assert {node.id for node in (await space.refs([top.id], first=100, offset=0))[top.id]} == set(others)
    insight = (await space.sessions([top.id]))[top.id].insight
    assert insight is not None
    assert insight.revision == 50


@pytest.mark.covers("W11")
async def test_archiving_against_growing(space: SpaceStore, twin: SpaceStore) -> None:
    """A child or fork is made before its parent is archived, or is refused."""
    for round in range(12):
        top = await create(space)
        draft = fork_of(top.id)

        grown, done = await both(
            space.create_session(child(top.id), None) if round % 2 else space.fork(draft, None),
            twin.set_status(top.id, SessionStatus.ARCHIVED),
        )

        assert not isinstance(done, StelloError)
        archived, _ = done
        events = (await space.space()).event_seq
        if isinstance(grown, StelloError):
            assert isinstance(grown, SessionArchived), grown
            assert archived.event_seq == events
        else:
            assert grown.event_seq < archived.event_seq == events


@pytest.mark.covers("W11")
async def test_settings_changed_at_once(space: SpaceStore, twin: SpaceStore) -> None:
    """Of settings that are changed at once none is lost: who comes second is told so and tries again."""

    async def change(store: SpaceStore, tag: str) -> None:
        while True:
            now = await store.space()
            if await store.configure(now.model_copy(update={"name": f"{now.name}{tag}"})) is not None:
                return

    _, lost = await race(
        change(store, tag) for store, tag in zip([space, twin] * 8, "abcdefghijklmnop", strict=True)
    )

    after = await space.space()
    assert lost == []
    assert sorted(after.name.removeprefix("Test")) == list("abcdefghijklmnop")
    assert after.revision == 16


async def test_memory_against_consolidating(space: SpaceStore, twin: SpaceStore) -> None:
    """Memory put by hand is never overwritten by a digest of an older one."""
    session = await create(space)
    for _ in range(8):
        revision = (await space.sessions([session.id]))[session.id].memory_revision

        _, lost = await race(
            [
                space.put_memory(session.id, "by hand"),
                twin.store_digest(session.id, "digest", revision=revision, through_seq=0, usage=usage(1)),
            ]
        )

        after = (await space.sessions([session.id]))[session.id]
        assert after.memory == "by hand"
        assert after.memory_revision == revision + 2 - len(lost)
        assert all(isinstance(error, Conflict) for error in lost)


async def test_trimming_against_beginning(space: SpaceStore, twin: SpaceStore) -> None:
    """A session is trimmed before a turn holds it, or not at all."""
    session = await create(space)

    won, lost = await race([begin(space, session.id), *(twin.trim(session.id, 0) for _ in range(3))])

    assert len(won) + len(lost) == 4
    assert all(isinstance(error, SessionBusy) for error in lost)
