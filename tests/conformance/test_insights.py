"""Insights for several sessions, and what integrating stores: all in one transaction, or nothing."""

import json
from collections.abc import Sequence

import pytest

from stello_graph.errors import Conflict, NotFound, SessionArchived
from stello_graph.model.memory import InsightDraft, IntegrationDraft
from stello_graph.model.session import Session
from stello_graph.model.values import SessionRole, SessionStatus
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import child, create, usage
from tests.conformance.racing import both, race
from tests.conformance.test_events import events


def insights(ids: Sequence[str], content: str = "hint") -> list[InsightDraft]:
    return [InsightDraft(session_id=id, content=f"{content} for {id}") for id in ids]


def draft_of(ids: Sequence[str] = (), **fields: object) -> IntegrationDraft:
    given = {
        "synthesis": "all",
        "insights": insights(ids),
        "through_seq": 7,
        "revision": 0,
        "usage": usage(2),
    }
    return IntegrationDraft.model_validate(given | fields)


async def tree(space: SpaceStore, spokes: int = 3) -> tuple[Session, list[str]]:
    """A MAIN session with children."""
    main = await create(space, "Main", role=SessionRole.MAIN)
    return main, [(await space.create_session(child(main.id), None)).id for _ in range(spokes)]


async def test_several_insights(space: SpaceStore, database: Database) -> None:
    """Insights are put to all, each with its event, numbered without gaps; answered as asked."""
    ids = [(await create(space)).id for _ in range(4)]
    asked = [ids[2], ids[0], ids[3]]
    before = len(events(database, space))

    given = [*insights(asked[:2]), InsightDraft(session_id=asked[2], content="x", source_session_id=ids[1])]
    put = await space.put_insights(given)

    assert [session.id for session in put] == asked
    assert [session.insight and session.insight.content for session in put] == [one.content for one in given]
    assert [session.insight and session.insight.source_session_id for session in put] == [None, None, ids[1]]
    found = events(database, space)[before:]
    assert [row["type"] for row in found] == ["INSIGHT_PUT"] * 3
    assert {row["nodeId"]: row["seq"] for row in found} == {session.id: session.event_seq for session in put}
    assert json.loads(next(row for row in found if row["nodeId"] == ids[3])["data"]) == {
        "sourceSessionId": ids[1]
    }
    assert await space.sessions(asked) == {session.id: session for session in put}
    assert await space.put_insights([]) == []


@pytest.mark.covers("W21")
async def test_all_or_none(space: SpaceStore, database: Database) -> None:
    """An unknown or archived target fails the whole, and says which it is."""
    ids = [(await create(space)).id for _ in range(3)]
    await space.set_status(ids[1], SessionStatus.ARCHIVED)
    before = database.snapshot(space.space_id)

    with pytest.raises(SessionArchived, match=ids[1]):
        await space.put_insights(insights(ids))
    with pytest.raises(NotFound, match="nobody"):
        await space.put_insights(insights([ids[0], "nobody", ids[2]]))
    with pytest.raises(NotFound, match="nobody"):
        await space.put_insights(insights(["nobody"]))

    assert database.snapshot(space.space_id) == before


async def test_many_insights(space: SpaceStore) -> None:
    """As many as a call may have."""
    main, ids = await tree(space, 1)
    await space.put_insights(insights([main.id, *ids]))
    many = [(await create(space, f"{n}")).id for n in range(60)]

    put = await space.put_insights(insights(many[::-1]))

    assert [session.id for session in put] == many[::-1]


async def test_in_any_order_at_once(space: SpaceStore, twin: SpaceStore, database: Database) -> None:
    """Calls that name the same sessions in other orders do not wait for each other for ever."""
    ids = [(await create(space)).id for _ in range(8)]
    before = len(events(database, space))

    _, lost = await race(
        store.put_insights(insights(order, f"{n}"))
        for n, (store, order) in enumerate([(space, ids), (twin, ids[::-1])] * 8)
    )

    assert lost == []
    assert len(events(database, space)) == before + 16 * 8
    texts = [
        session.insight.content.partition(" ")[0]
        for session in (await space.sessions(ids)).values()
        if session.insight
    ]
    assert len(texts) == 8
    assert len(set(texts)) == 1, "each call is one transaction: the last one put them all"


async def test_archiving_at_once(space: SpaceStore, twin: SpaceStore) -> None:
    """Where a target is archived at the same time all get their insight, or none does."""
    for _ in range(10):
        ids = [(await create(space)).id for _ in range(3)]
        put, _ = await both(
            space.put_insights(insights(ids)), twin.set_status(ids[1], SessionStatus.ARCHIVED)
        )
        told = [session.insight is not None for session in (await space.sessions(ids)).values()]
        assert told == [not isinstance(put, SessionArchived)] * 3


@pytest.mark.covers("INT-2")
async def test_integrating(space: SpaceStore, database: Database) -> None:
    """Synthesis, insights and their events are one transaction; what it took is counted."""
    main, ids = await tree(space)
    before = (await space.space()).event_seq

    told = await space.store_integration(main.id, draft_of(ids[:2]))

    assert told == ids[:2]
    stored = await space.sessions([main.id, *ids])
    assert (stored[main.id].synthesis, stored[main.id].synthesis_revision) == ("all", 1)
    assert (stored[main.id].integrated_seq, stored[main.id].usage) == (7, usage(2))
    assert (await space.space()).usage == usage(2)
    told_to = {id: one.insight.content for id, one in stored.items() if one.insight}
    assert told_to == {id: f"hint for {id}" for id in ids[:2]}
    assert {one.insight.source_session_id for one in stored.values() if one.insight} == {main.id}
    found = events(database, space)[before:]
    assert [(row["seq"], row["type"], row["nodeId"]) for row in found] == [
        (before + 1, "SYNTHESIS_UPDATED", main.id),
        (before + 2, "INSIGHT_PUT", ids[0]),
        (before + 3, "INSIGHT_PUT", ids[1]),
    ]
    assert [stored[id].event_seq for id in (main.id, *ids[:2])] == [row["seq"] for row in found]


@pytest.mark.covers("INT-3", "S3")
async def test_targets_that_cannot_be(space: SpaceStore, database: Database) -> None:
    """What is unknown, archived, of another tree or MAIN itself gets no insight; the rest does."""
    main, ids = await tree(space)
    outside = await create(space)
    await space.set_status(ids[1], SessionStatus.ARCHIVED)
    before = len(events(database, space))

    told = await space.store_integration(main.id, draft_of([ids[1], outside.id, "nobody", main.id, ids[0]]))

    assert told == [ids[0]]
    with_insight = [
        id for id, one in (await space.sessions([main.id, outside.id, *ids])).items() if one.insight
    ]
    assert with_insight == [ids[0]]
    assert len(events(database, space)) == before + 2


@pytest.mark.covers("W29")
async def test_integrating_at_once(space: SpaceStore, twin: SpaceStore) -> None:
    """Of two integrations of the same synthesis one is stored, and the other is refused whole."""
    for _ in range(5):
        main, ids = await tree(space)
        won, lost = await race(
            store.store_integration(main.id, draft_of(ids, synthesis=text, insights=insights(ids, text)))
            for store, text in ((space, "one"), (twin, "two"))
        )
        assert len(won) == 1
        assert [type(error) for error in lost] == [Conflict]
        stored = await space.sessions([main.id, *ids])
        assert stored[main.id].synthesis_revision == 1
        text = stored[main.id].synthesis
        assert {one.insight.content.partition(" ")[0] for one in stored.values() if one.insight} == {text}


async def test_an_archived_main(space: SpaceStore, database: Database) -> None:
    """An archived MAIN takes no synthesis, and its tree no insights; an unknown one is not found."""
    main, ids = await tree(space)
    await space.set_status(main.id, SessionStatus.ARCHIVED)
    before = database.snapshot(space.space_id)

    with pytest.raises(SessionArchived):
        await space.store_integration(main.id, draft_of(ids))
    with pytest.raises(NotFound):
        await space.store_integration("nobody", draft_of(ids))

    assert database.snapshot(space.space_id) == before


async def test_archiving_while_integrating(space: SpaceStore, twin: SpaceStore) -> None:
    """A target that is archived at the same time has its insight from before, or none and is named so."""
    for _ in range(10):
        main, ids = await tree(space)
        told, _ = await both(
            space.store_integration(main.id, draft_of(ids)), twin.set_status(ids[1], SessionStatus.ARCHIVED)
        )
        assert isinstance(told, list)
        stored = await space.sessions(ids)
        assert {id for id in ids if stored[id].insight} == set(told)
        assert {ids[0], ids[2]} <= set(told)


async def test_deleting_while_integrating(space: SpaceStore, twin: SpaceStore) -> None:
    """A target that is deleted at the same time takes nothing with it."""
    for _ in range(10):
        main, ids = await tree(space)
        told, gone = await both(
            space.store_integration(main.id, draft_of(ids)), twin.delete_session(ids[1], 1, 10)
        )
        assert isinstance(told, list)
        assert gone == [ids[1]]
        assert {ids[0], ids[2]} <= set(told)
        assert (await space.sessions([main.id]))[main.id].synthesis == "all"


@pytest.mark.covers("INT-1")
async def test_what_integrating_reads(space: SpaceStore) -> None:
    """MAIN with the digests of its active descendants, newest changed first, after the event number."""
    main, ids = await tree(space, 5)
    other = await create(space)
    below = (await space.create_session(child(ids[0]), None)).id
    for id in (below, ids[0], main.id, other.id, ids[1], ids[2]):
        await space.put_memory(id, f"memory of {id}")
    await space.put_insight(below, "x", None)
    await space.set_status(ids[1], SessionStatus.ARCHIVED)

    found = await space.to_integrate(main.id, 10)

    assert [(one.id, one.memory) for one in found.digests] == [
        (id, f"memory of {id}") for id in (ids[2], ids[0], below)
    ]
    assert found.session.id == main.id
    assert found.through_seq == (await space.space()).event_seq
    assert all(one.memory_seq for one in found.digests)
    assert [one.id for one in (await space.to_integrate(main.id, 2)).digests] == [ids[2], ids[0]]
    await space.set_status(ids[1], SessionStatus.ACTIVE)
    assert (await space.to_integrate(main.id, 1)).digests[0].id == ids[1], "what comes back is new"


async def test_rollups(space: SpaceStore) -> None:
    """A rollup is replaced by one that knows more, and by no other; it counts for its session."""
    _, (id, *_) = await tree(space)

    assert await space.store_rollup(id, "first", through_seq=3, usage=usage(1))
    assert not await space.store_rollup(id, "late", through_seq=3, usage=usage(1))
    assert not await space.store_rollup(id, "late", through_seq=2, usage=usage(1))
    assert await space.store_rollup(id, "second", through_seq=4, usage=usage(1))

    stored = (await space.sessions([id]))[id]
    assert (stored.rollup, stored.usage) == ("second", usage(1) + usage(1))
    await space.set_status(id, SessionStatus.ARCHIVED)
    assert not await space.store_rollup(id, "archived", through_seq=9, usage=usage(1))
    assert not await space.store_rollup("nobody", "x", through_seq=9, usage=usage(1))


async def test_the_shape_of_a_tree(space: SpaceStore) -> None:
    """All sessions of a tree with their places and what changed when, without texts."""
    main, ids = await tree(space, 2)
    below = (await space.create_session(child(ids[0]), None)).id
    await create(space)
    put = await space.put_memory(below, "m")
    await space.store_rollup(ids[0], "r", through_seq=4, usage=usage(1))

    found = {node.id: node for node in await space.tree(main.id, 100)}

    assert {id: (node.parent_id, node.depth) for id, node in found.items()} == {
        main.id: (None, 0),
        ids[0]: (main.id, 1),
        ids[1]: (main.id, 1),
        below: (ids[0], 2),
    }
    assert (found[below].memory_seq, found[below].rollup_seq) == (put.event_seq, None)
    assert (found[ids[0]].memory_seq, found[ids[0]].rollup_seq) == (None, 4)
    assert len(await space.tree(main.id, 2)) == 2
