import pytest

from stello_graph.errors import InvalidInput, NotFound, SessionArchived
from stello_graph.model.session import Session
from stello_graph.model.values import SessionStatus
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import child, create

Tree = tuple[Session, Session, Session, Session]


@pytest.fixture
async def tree(space: SpaceStore) -> Tree:
    """A root with a child and a grandchild, and another root."""
    top = await create(space, "top")
    middle = await space.create_session(child(top.id, "middle"), None)
    leaf = await space.create_session(child(middle.id, "leaf"), None)
    return top, middle, leaf, await create(space, "other")


async def refs(space: SpaceStore, id: str, first: int = 10, offset: int = 0) -> list[str]:
    return [node.id for node in (await space.refs([id], first=first, offset=offset))[id]]


async def referenced_by(space: SpaceStore, id: str, first: int = 10, offset: int = 0) -> list[str]:
    return [node.id for node in (await space.referenced_by([id], first=first, offset=offset))[id]]


async def test_links(space: SpaceStore, tree: Tree) -> None:
    """A link is seen from both sides, and goes one way only."""
    top, _, leaf, other = tree

    answered = await space.add_ref(leaf.id, other.id)

    assert answered == (await space.nodes([leaf.id]))[leaf.id]
    assert await refs(space, leaf.id) == [other.id]
    assert await referenced_by(space, other.id) == [leaf.id]
    assert (
        await refs(space, other.id) == await referenced_by(space, leaf.id) == await refs(space, top.id) == []
    )


@pytest.mark.covers("TOPO-7")
async def test_order(space: SpaceStore) -> None:
    """Links are in the order of insertion, in pages."""
    ids = [(await create(space)).id for _ in range(4)]
    order = [ids[3], ids[1], ids[2]]
    for id in order:
        await space.add_ref(ids[0], id)
        await space.add_ref(id, ids[0])

    assert await refs(space, ids[0]) == await referenced_by(space, ids[0]) == order
    assert await refs(space, ids[0], first=1, offset=1) == [ids[1]]
    assert await referenced_by(space, ids[0], first=2, offset=1) == [ids[1], ids[2]]
    assert await refs(space, ids[0], offset=3) == []


@pytest.mark.covers("TOPO-7")
async def test_twice_is_once(space: SpaceStore, tree: Tree, database: Database) -> None:
    """A link that is there already is left as it is."""
    _, _, leaf, other = tree
    await space.add_ref(leaf.id, other.id)
    before = database.snapshot(space.space_id)

    await space.add_ref(leaf.id, other.id)

    assert database.snapshot(space.space_id) == before


@pytest.mark.covers("TOPO-7")
async def test_refused(space: SpaceStore, tree: Tree, database: Database) -> None:
    """A link to itself, an ancestor or a descendant is refused, each with its own reason."""
    top, middle, leaf, _ = tree
    before = database.snapshot(space.space_id)

    for from_, to, reason in (
        (middle, middle, "itself"),
        (leaf, middle, "ancestor"),
        (leaf, top, "ancestor"),
        (top, middle, "descendant"),
        (top, leaf, "descendant"),
    ):
        with pytest.raises(InvalidInput, match=reason):
            await space.add_ref(from_.id, to.id)

    assert database.snapshot(space.space_id) == before


@pytest.mark.covers("TOPO-7")
async def test_siblings_may_be_linked(space: SpaceStore, tree: Tree) -> None:
    """Nodes side by side may be linked, in both directions."""
    top, middle, _, _ = tree
    beside = await space.create_session(child(top.id), None)

    await space.add_ref(middle.id, beside.id)
    await space.add_ref(beside.id, middle.id)

    assert (await refs(space, middle.id), await refs(space, beside.id)) == ([beside.id], [middle.id])


async def test_unknown(space: SpaceStore, tree: Tree) -> None:
    """Both ends must exist; the one that does not is named. Of an unknown node nothing is listed."""
    top = tree[0]

    for change in (space.add_ref, space.remove_ref):
        with pytest.raises(NotFound, match="nobody"):
            await change(top.id, "nobody")
        with pytest.raises(NotFound, match="nobody"):
            await change("nobody", top.id)

    assert await space.refs(["nobody"], first=10, offset=0) == {}
    assert await space.referenced_by(["nobody"], first=10, offset=0) == {}


@pytest.mark.covers("TOPO-7")
async def test_archived(space: SpaceStore, tree: Tree) -> None:
    """An archived node takes no new links from itself, but those that an import brings; links towards it may
    come and all may go.
    """
    _, _, leaf, other = tree
    await space.add_ref(leaf.id, other.id)
    await space.set_status(leaf.id, SessionStatus.ARCHIVED)

    with pytest.raises(SessionArchived):
        await space.add_ref(leaf.id, other.id)
    await space.add_ref(other.id, leaf.id)
    await space.remove_ref(leaf.id, other.id)

    assert (await refs(space, leaf.id), await refs(space, other.id)) == ([], [leaf.id])
    await space.add_ref(leaf.id, other.id, of_archived=True)
    assert await refs(space, leaf.id) == [other.id]


async def test_removing(space: SpaceStore, tree: Tree, database: Database) -> None:
    """A link can be removed; where there is none, nothing happens."""
    _, _, leaf, other = tree
    await space.add_ref(leaf.id, other.id)
    await space.add_ref(other.id, leaf.id)

    await space.remove_ref(leaf.id, other.id)
    before = database.snapshot(space.space_id)
    answered = await space.remove_ref(leaf.id, other.id)

    assert database.snapshot(space.space_id) == before
    assert answered.id == leaf.id
    assert (await refs(space, leaf.id), await refs(space, other.id)) == ([], [leaf.id])


async def test_links_go_with_their_nodes(space: SpaceStore, tree: Tree) -> None:
    """Deleting either end deletes the link."""
    _, _, leaf, other = tree
    await space.add_ref(leaf.id, other.id)
    await space.add_ref(other.id, leaf.id)

    await space.delete_session(leaf.id, 1, 10)

    assert await refs(space, other.id) == await referenced_by(space, other.id) == []
