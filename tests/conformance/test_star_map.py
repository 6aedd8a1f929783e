import asyncio

import pytest

from stello_graph.errors import NotFound
from stello_graph.model.topology import StarMap
from stello_graph.model.values import SessionRole, SessionStatus
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import ALL, child, create, exchange, fork_of, placed


async def star_map(
    space: SpaceStore,
    root_id: str | None = None,
    *,
    max_depth: int | None = None,
    max_nodes: int = ALL,
    include_archived: bool = True,
) -> StarMap:
    return await space.star_map(
        root_id, max_depth=max_depth, max_nodes=max_nodes, include_archived=include_archived
    )


async def grown(space: SpaceStore, parent_id: str, label: str) -> str:
    return (await space.create_session(child(parent_id, label), None)).id


async def is_number_of(space: SpaceStore, found: StarMap) -> bool:
    """Whether it is the newest event's number or the one before, where the newest may not show whole yet."""
    newest = (await space.space()).event_seq
    return newest - 1 <= found.event_seq <= newest


async def test_an_empty_space(space: SpaceStore) -> None:
    """The map of an empty Space is empty."""
    found = await star_map(space)

    assert (found.node_count, found.truncated, found.event_seq, found.root_id) == (0, False, 0, None)
    assert set(found.columns) == {
        "id",
        "parent",
        "source",
        "label",
        "status",
        "role",
        "depth",
        "index",
        "childCount",
        "turnCount",
        "lastActiveAt",
        "refs",
    }
    assert not any(found.columns.values())


@pytest.mark.covers("W46")
async def test_columns(space: SpaceStore) -> None:
    """All columns are of one length, and say of each node what the node says."""
    main = (await create(space, "星", role=SessionRole.MAIN)).id
    below = await grown(space, main, "below")
    other = (await create(space, "other")).id
    await exchange(space, below)
    await space.add_ref(below, other)
    await space.add_ref(other, main)
    await space.set_status(below, SessionStatus.ARCHIVED)

    found = await star_map(space)

    columns = found.columns
    assert (found.node_count, found.truncated) == (3, False)
    assert await is_number_of(space, found)
    assert columns["id"] == [main, other, below]
    assert columns["parent"] == [-1, -1, 0]
    assert columns["source"] == [-1, -1, -1]
    assert columns["label"] == ["星", "other", "below"]
    assert (columns["status"], columns["role"]) == ([0, 0, 1], [1, 0, 0])
    assert (columns["depth"], columns["index"]) == ([0, 0, 1], [0, 1, 0])
    assert (columns["childCount"], columns["turnCount"]) == ([1, 0, 0], [0, 0, 1])
    nodes = await space.nodes(columns["id"])
    assert columns["lastActiveAt"] == [nodes[id].last_active_at // 1000 for id in columns["id"]]
    assert columns["refs"] == [[2, 1], [1, 0]]


@pytest.mark.covers("TOPO-8")
async def test_where_forks_came_from(space: SpaceStore) -> None:
    """The map has the source of each fork, wherever it hangs, as long as the source is in the map."""
    top, other = (await create(space)).id, (await create(space)).id
    below = await grown(space, other, "below")
    await exchange(space, below)
    fork = (await space.fork(fork_of(below, parent_id=top, through_seq=1), None)).id
    under = (await space.fork(fork_of(top, parent_id=top), None)).id

    async def sources(root_id: str | None = None, depth: int | None = None) -> dict[str, str | None]:
        columns = (await star_map(space, root_id, max_depth=depth)).columns
        ids = [*columns["id"], None]
        return {id: ids[place] for id, place in zip(ids, columns["source"], strict=False) if id}

    assert await sources() == {top: None, other: None, fork: below, under: top, below: None}
    assert await sources(top) == {top: None, fork: None, under: top}
    assert await sources(None, 0) == {top: None, other: None}
    await space.delete_session(other, 2, 10)
    assert await sources() == {top: None, fork: None, under: top}


@pytest.mark.covers("TOPO-4")
async def test_level_by_level(space: SpaceStore) -> None:
    """Parents come before their children, whatever the order of creation."""
    roots = [(await create(space)).id for _ in range(2)]
    deep = await grown(space, await grown(space, roots[0], "a"), "aa")
    late = await grown(space, roots[1], "b")

    columns = (await star_map(space)).columns

    assert columns["depth"] == [0, 0, 1, 1, 2]
    assert set(columns["id"][2:4]) > {late}
    assert columns["id"][4] == deep
    assert all(parent < place for place, parent in enumerate(columns["parent"]))


async def test_depth(space: SpaceStore) -> None:
    """A map may end at a depth, counted from its root."""
    top = (await create(space)).id
    middle = await grown(space, top, "middle")
    leaf = await grown(space, middle, "leaf")

    async def ids(root_id: str | None, depth: int | None) -> list[str]:
        return (await star_map(space, root_id, max_depth=depth)).columns["id"]

    assert await ids(None, 0) == [top]
    assert await ids(None, 1) == [top, middle]
    assert await ids(None, None) == [top, middle, leaf]
    assert await ids(middle, 0) == [middle]
    assert await ids(middle, 1) == await ids(middle, None) == [middle, leaf]


async def test_too_many_nodes(space: SpaceStore) -> None:
    """A map that would be too big ends with a whole level, of the first with what fits."""
    roots = [(await create(space)).id for _ in range(3)]
    below = [await grown(space, id, "below") for id in roots]

    whole = await star_map(space, max_nodes=6)
    cut = await star_map(space, max_nodes=5)
    few = await star_map(space, max_nodes=2)

    assert (whole.node_count, whole.truncated) == (6, False)
    assert (cut.node_count, cut.truncated, cut.columns["id"]) == (3, True, roots)
    assert (few.node_count, few.truncated, few.columns["id"]) == (2, True, roots[:2])
    assert set(whole.columns["id"][3:]) == set(below)


async def test_links_that_leave_the_map(space: SpaceStore) -> None:
    """A link is part of a map that has both of its ends."""
    roots = [(await create(space)).id for _ in range(2)]
    below = [await grown(space, id, "below") for id in roots]
    await space.add_ref(below[0], below[1])
    await space.add_ref(below[0], roots[1])
    await space.add_ref(roots[0], roots[1])

    assert (await star_map(space, max_depth=0)).columns["refs"] == [[0, 1]]
    assert (await star_map(space, roots[0])).columns["refs"] == []
    assert len((await star_map(space)).columns["refs"]) == 3


async def test_a_part_of_the_map(space: SpaceStore) -> None:
    """Below a root the map has that root, without a parent, and all that hangs under it."""
    top, other = (await create(space)).id, (await create(space)).id
    middle = await grown(space, top, "middle")
    leaf = await grown(space, middle, "leaf")
    await grown(space, other, "elsewhere")
    await space.add_ref(leaf, other)

    found = await star_map(space, middle)

    assert (found.root_id, found.node_count) == (middle, 2)
    assert await is_number_of(space, found)
    assert found.columns["id"] == [middle, leaf]
    assert found.columns["parent"] == [-1, 0]
    assert found.columns["depth"] == [1, 2]


async def test_archived_nodes(space: SpaceStore) -> None:
    """Without archived nodes, those stay that have an active one somewhere below."""
    top = (await create(space)).id
    kept = await grown(space, top, "kept")
    active = await grown(space, await grown(space, kept, "kept as well"), "active")
    gone = await grown(space, top, "gone")
    await grown(space, gone, "gone as well")
    alone = (await create(space)).id
    for id, node in (await space.nodes((await star_map(space)).columns["id"])).items():
        if node.id != active:
            await space.set_status(id, SessionStatus.ARCHIVED)

    whole = await star_map(space)
    without = await star_map(space, include_archived=False)

    assert whole.node_count == 7
    assert without.columns["label"] == ["Root", "kept", "kept as well", "active"]
    assert without.columns["parent"] == [-1, 0, 1, 2]
    assert (await star_map(space, gone, include_archived=False)).columns["id"] == [gone]
    assert (await star_map(space, alone, include_archived=False)).columns["id"] == [alone]


async def test_an_unknown_root(space: SpaceStore) -> None:
    """There is no map below a node that does not exist."""
    with pytest.raises(NotFound, match="nobody"):
        await star_map(space, "nobody")


async def test_beside_many_that_come_at_once(space: SpaceStore, twin: SpaceStore, database: Database) -> None:
    """A map that is taken while lots of sessions come, and the events after it, are all of them."""
    lots = [[placed(f"{lot}-{place}", messages=()) for place in range(400)] for lot in range(8)]
    maps: list[StarMap] = []

    async def grow() -> None:
        for lot in lots:
            assert await twin.import_sessions(lot)

    growing = asyncio.create_task(grow())
    while not growing.done():
        maps += await asyncio.gather(*(star_map(space) for _ in range(6)))
    await growing

    born = {row["seq"]: row["nodeId"] for row in database.snapshot(space.space_id)["event"]}
    assert len(born) == 3_200
    for found in maps:
        told = {id for seq, id in born.items() if seq > found.event_seq}
        assert {*found.columns["id"]} | told == {*born.values()}
