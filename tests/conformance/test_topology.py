import pytest

from stello_graph.ports import SpaceStore
from tests.conformance.drafts import ALL, child, create


async def grown(space: SpaceStore, parent_id: str, count: int) -> list[str]:
    return [(await space.create_session(child(parent_id), None)).id for _ in range(count)]


@pytest.mark.covers("TOPO-8")
async def test_nodes(space: SpaceStore) -> None:
    """Nodes by id: those that exist; a node tells what its session is."""
    session = await create(space, "星")

    found = await space.nodes([session.id, "nobody"])

    assert found.keys() == {session.id}
    node = found[session.id]
    assert (node.label, node.status, node.role, node.turn_count) == (
        "星",
        session.status,
        session.role,
        session.turn_count,
    )
    assert (node.created_at, node.last_active_at) == (session.created_at, session.last_active_at)
    assert (node.source_session_id, node.source_seq, node.child_count) == (None, None, 0)


@pytest.mark.covers("TOPO-4")
async def test_an_empty_forest(space: SpaceStore) -> None:
    """A new Space has no roots."""
    assert await space.children([None], after=-1, first=10) == {None: []}


async def test_children_of_several(space: SpaceStore) -> None:
    """Each parent has a page of its own, the Space its roots; an unknown parent is told apart."""
    one, two = await create(space), await create(space)
    below = await grown(space, one.id, 3)

    found = await space.children([None, one.id, two.id, "nobody"], after=-1, first=2)

    pages = {parent: None if page is None else [node.id for node in page] for parent, page in found.items()}
    assert pages == {None: [one.id, two.id], one.id: below[:2], two.id: [], "nobody": None}


async def test_pages_of_children(space: SpaceStore) -> None:
    """Children come by place, from after the one that is named."""
    top = await create(space)
    below = await grown(space, top.id, 4)

    async def page(after: int, first: int = 2) -> list[str]:
        nodes = (await space.children([top.id], after=after, first=first))[top.id]
        assert nodes is not None
        return [node.id for node in nodes]

    assert [await page(-1), await page(1), await page(3), await page(0, 100)] == [
        below[:2],
        below[2:],
        [],
        below[1:],
    ]


@pytest.mark.covers("TOPO-2")
async def test_places_are_not_given_again(space: SpaceStore) -> None:
    """A place that is free again stays free, also the last one."""
    top = await create(space)
    below = await grown(space, top.id, 3)
    await space.delete_session(below[1], 1, 10)
    await space.delete_session(below[2], 1, 10)

    below += await grown(space, top.id, 1)

    nodes = (await space.children([top.id], after=-1, first=10))[top.id]
    assert nodes is not None
    assert [(node.id, node.index) for node in nodes] == [(below[0], 0), (below[3], 3)]


async def test_with_ancestors(space: SpaceStore) -> None:
    """Nodes that exist are read with the ancestors that they would be asked for next."""
    path = [(await create(space)).id]
    for _ in range(3):
        path += await grown(space, path[-1], 1)
    ids = [path[0], path[2], "nobody", path[3]]

    found = await space.nodes_with_ancestors(ids)

    assert found.keys() == {path[0], path[2], path[3]}
    ancestors, nodes = await space.ancestors(ids), await space.nodes(ids)
    for id, node in found.items():
        assert list(node.ancestors) == ancestors[id]
        assert node.model_dump(exclude={"ancestors"}) == nodes[id].model_dump()


@pytest.mark.covers("TOPO-5", "W35", "W38")
async def test_ancestors(space: SpaceStore) -> None:
    """Ancestors come root first, without the node itself; a root has none."""
    path = [(await create(space)).id]
    for _ in range(60):
        path += await grown(space, path[-1], 1)

    found = await space.ancestors([path[0], path[1], path[-1], "nobody"])

    assert {id: [node.id for node in nodes] for id, nodes in found.items()} == {
        path[0]: [],
        path[1]: path[:1],
        path[-1]: path[:-1],
    }


@pytest.mark.covers("TOPO-6")
async def test_siblings(space: SpaceStore) -> None:
    """Siblings come by place, without the node itself; those of a root are the other roots."""
    roots = [(await create(space)).id for _ in range(3)]
    below = await grown(space, roots[0], 4)

    found = await space.siblings([roots[1], below[2], "nobody"], after=-1, first=10)

    assert {id: [node.id for node in nodes] for id, nodes in found.items()} == {
        roots[1]: [roots[0], roots[2]],
        below[2]: [below[0], below[1], below[3]],
    }
    page = await space.siblings([below[0]], after=1, first=1)
    assert [node.id for node in page[below[0]]] == [below[2]]


async def test_nothing_asked(space: SpaceStore) -> None:
    """Asking for nothing gives nothing."""
    assert await space.nodes([]) == {}
    assert await space.children([], after=-1, first=ALL) == {}
    assert await space.ancestors([]) == {}
    assert await space.siblings([], after=-1, first=ALL) == {}
    assert await space.refs([], first=ALL, offset=0) == {}
