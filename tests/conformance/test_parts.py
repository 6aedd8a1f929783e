"""Lists that read some fields alone give what they give where they read all."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from stello_graph.model.message import Message, MessagePage
from stello_graph.model.session import SessionDigest
from stello_graph.model.topology import ChildrenPage, TopologyNode
from stello_graph.model.writes import SessionFilter
from stello_graph.ports import SpaceStore
from tests.conformance.drafts import ALL, child, create, said, tool_group

NODE = tuple(TopologyNode.model_fields)
SOME = ("label", "id", "child_count", "parent_id")
# What is stored as it is told: all but calls and usage, whose values are objects.
SAID = tuple(name for name in Message.model_fields if name not in ("tool_calls", "usage"))

Listed = Callable[[SpaceStore, str, Any], Awaitable[Any]]

LISTS: dict[str, Listed] = {
    "children": lambda space, top, only: space.children([top, None], after=-1, first=9, only=only),
    "siblings": lambda space, top, only: space.siblings([top, "low"], after=-1, first=9, only=only),
    "ancestors": lambda space, top, only: space.ancestors(["low", top], only=only),
    "refs": lambda space, top, only: space.refs(["low", top], first=9, offset=0, only=only),
    "referenced by": lambda space, top, only: space.referenced_by(["far", top], first=9, offset=0, only=only),
}


async def forest(space: SpaceStore) -> str:
    """Two roots; below the first one three levels, of which `low` refers to the other root, `far`."""
    top = (await create(space)).id
    for label in ("one", "two"):
        await space.create_session(child(top, label=label, id=label), None)
        for _ in range(2):
            await space.create_session(child(label), None)
    await space.create_session(child("two", id="low"), None)
    await create(space, id="far")
    await space.add_ref("low", "far")
    return top


def told(thing: Any, only: tuple[str, ...]) -> dict[str, Any]:
    return {name: getattr(thing, name) for name in only}


@pytest.mark.parametrize("only", [NODE, SOME, ("id",)])
@pytest.mark.parametrize("what", LISTS)
async def test_lists_of_nodes(space: SpaceStore, what: str, only: tuple[str, ...]) -> None:
    top = await forest(space)

    whole, parts = await LISTS[what](space, top, None), await LISTS[what](space, top, only)

    assert any(whole.values())
    assert {id: [told(node, only) for node in nodes] for id, nodes in parts.items()} == {
        id: [told(node, only) for node in nodes] for id, nodes in whole.items()
    }


@pytest.mark.parametrize("third", [ChildrenPage(0, 1, ("id", "index")), None])
async def test_children_with_their_children(space: SpaceStore, third: ChildrenPage | None) -> None:
    """Each level has a page and fields of its own; it is what would be read one level after the other."""
    top = await forest(space)
    second = ChildrenPage(-1, 2, ("label", "id"), third)

    found = await space.children([top, "nobody", "far"], after=-1, first=9, only=SOME, below=second)

    assert found["nobody"] is None
    assert found["far"] == []
    nodes = found[top]
    assert nodes is not None
    alone = (await space.children([top], after=-1, first=9))[top]
    assert alone is not None
    assert [told(node, SOME) for node in nodes] == [told(node, SOME) for node in alone]
    below = await space.children([node.id for node in nodes], after=-1, first=2)
    for node in nodes:
        page: Any = getattr(node, "children")  # noqa: B009
        assert page.page == second
        assert [told(one, ("id", "label")) for one in page.nodes] == [
            told(one, ("id", "label")) for one in below[node.id] or ()
        ]
        for one in page.nodes:
            if third is None:
                assert not hasattr(one, "children")
            else:
                deepest = (await space.children([one.id], after=0, first=1))[one.id]
                assert [n.id for n in one.children.nodes] == [n.id for n in deepest or ()]


async def test_children_with_their_children_are_all_there(space: SpaceStore) -> None:
    """Three levels of all the roots, in one call."""
    top = await forest(space)
    pages = ChildrenPage(-1, 9, ("id",), ChildrenPage(-1, 9, ("id",)))

    roots: Any = (await space.children([None], after=-1, first=9, only=("id",), below=pages))[None]

    shape = [[len(node.children.nodes) for node in root.children.nodes] for root in roots]
    assert [root.id for root in roots] == [top, "far"]
    assert shape == [[2, 3], []]


async def test_messages(space: SpaceStore) -> None:
    """From either end, and with their session; what is stored as JSON is decoded."""
    session = await create(space)
    await space.append(session.id, [said("one", parts=[{"type": "text", "text": "one"}]), *tool_group()])
    common: dict[str, Any] = {"after": 0, "before": ALL, "first": 9, "roles": None}
    whole = (await space.oldest_messages([session.id], **common))[session.id]
    assert whole[0].parts == [{"type": "text", "text": "one"}]

    for only in (SAID, ("seq", "content"), ("content",), ("parts", "id")):
        expected = [told(message, only) for message in whole]
        for read in (space.newest_messages, space.oldest_messages):
            found = (await read([session.id], **common, only=only))[session.id]
            assert [told(message, only) for message in found] == expected
        page = MessagePage(newest=True, after=0, before=ALL, first=9, roles=None, only=only)
        beside = (await space.sessions_with_newest([session.id], page))[session.id]
        assert [told(message, only) for message in beside.messages] == expected


async def test_digests(space: SpaceStore) -> None:
    """Also of one tree; one that has no memory yet has none."""
    session, other = await create(space), await create(space)
    await space.put_memory(session.id, "what it knows")
    for which in (SessionFilter(), SessionFilter(root_id=other.id)):
        whole = await space.digests(which, changed_after=0, after="", first=9)
        for only in (tuple(SessionDigest.model_fields), ("id", "memory"), ("memory_seq",)):
            parts = await space.digests(which, changed_after=0, after="", first=9, only=only)
            assert parts.event_seq == whole.event_seq
            assert [told(one, only) for one in parts.digests] == [told(one, only) for one in whole.digests]
