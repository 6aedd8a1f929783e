"""The map, as the schema shows it."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import strawberry

from stello_graph.errors import InvalidInput
from stello_graph.graphql.ahead import below, only_below
from stello_graph.graphql.arguments import given, page_size
from stello_graph.graphql.context import Context, Info
from stello_graph.graphql.enums import SessionRole, SessionStatus, TopologyEventType
from stello_graph.graphql.executor import of_many
from stello_graph.graphql.loaders import Page
from stello_graph.graphql.scalars import JSON, DateTime, Long, StarMapColumns
from stello_graph.model import session as model_session
from stello_graph.model import topology as model
from stello_graph.model.parts import Only

if TYPE_CHECKING:
    from stello_graph.graphql.types.session import Session

__all__ = ["StarMap", "TopologyEvent", "TopologyNode", "nested_page"]

Node = strawberry.Parent[model.TopologyNode]
Nodes = list[model.TopologyNode]
LazySession = Annotated["Session", strawberry.lazy("stello_graph.graphql.types.session")]
LazyNodes = list[Annotated["TopologyNode", strawberry.lazy("stello_graph.graphql.types.topology")]]


async def parent(node: Node, info: Info) -> model.TopologyNode | None:
    """The node it hangs under."""
    return None if node.parent_id is None else await info.context.loaders.node.load(node.parent_id)


async def children_of(
    nodes: Sequence[model.TopologyNode],
    context: Context,
    only: Only | None,
    first: int | None = 100,
    after: int | None = -1,
) -> list[Nodes]:
    """A page of the children of each. Nodes without any cost no query."""
    return await _children_of(
        nodes, context, model.ChildrenPage(given(after, -1), page_size(first, 100), only)
    )


async def _children_of(
    nodes: Sequence[model.TopologyNode], context: Context, page: model.ChildrenPage
) -> list[Nodes]:
    read: list[model.Children | None] = [getattr(node, "children", None) for node in nodes]
    found_before = [one.nodes for one in read if one is not None and one.page.covers(page)]
    if len(found_before) == len(nodes):
        return found_before
    having = [node for node in nodes if node.child_count]
    found = await context.loaders.children.of_each([node.id for node in having], page)
    return _beside(nodes, having, found)


async def ancestors_of(
    nodes: Sequence[model.TopologyNode], context: Context, only: Only | None
) -> list[Nodes]:
    """All of them, the root first."""
    having = [node for node in nodes if node.parent_id is not None]
    return _beside(nodes, having, await context.loaders.ancestors.of_each([node.id for node in having], only))


async def siblings_of(
    nodes: Sequence[model.TopologyNode],
    context: Context,
    only: Only | None,
    first: int | None = 100,
    after: int | None = -1,
) -> list[Nodes]:
    """A page of those with the same parent; for a root, of the other roots."""
    page = Page(given(after, -1), page_size(first, 100), only)
    return [found or [] for found in await context.loaders.siblings.of_each([n.id for n in nodes], page)]


async def refs_of(
    nodes: Sequence[model.TopologyNode],
    context: Context,
    only: Only | None,
    first: int | None = 100,
    offset: int | None = 0,
) -> list[Nodes]:
    """Cross-links from each."""
    page = Page(max(0, given(offset, 0)), page_size(first, 100), only)
    return [found or [] for found in await context.loaders.refs.of_each([n.id for n in nodes], page)]


async def referenced_by_of(
    nodes: Sequence[model.TopologyNode],
    context: Context,
    only: Only | None,
    first: int | None = 100,
    offset: int | None = 0,
) -> list[Nodes]:
    """Cross-links to each."""
    page = Page(max(0, given(offset, 0)), page_size(first, 100), only)
    found = await context.loaders.referenced_by.of_each([n.id for n in nodes], page)
    return [links or [] for links in found]


def _beside(
    nodes: Sequence[model.TopologyNode], having: Sequence[model.TopologyNode], found: Sequence[Nodes | None]
) -> list[Nodes]:
    by_id = {node.id: rows or [] for node, rows in zip(having, found, strict=True)}
    return [by_id.get(node.id, []) for node in nodes]


async def children(node: Node, info: Info, first: int | None = 100, after: int | None = -1) -> Nodes:
    """A page of the children. A node without any costs no query."""
    return (await _children_of([node], info.context, nested_page(info, first, after)))[0]


def nested_page(info: Info, first: int | None, after: int | None) -> model.ChildrenPage:
    """The page that a field asks for, with those of `children` below it, as many levels as one statement reads."""
    pages = [model.ChildrenPage(given(after, -1), page_size(first, 100), only_below(info))]
    for path in (["children"], ["children", "children"]):
        arguments, only = below(info, *path), only_below(info, *path)
        if arguments is None or not only or pages[-1].only is None:
            break
        try:
            size = page_size(arguments.get("first"), 100)
        except InvalidInput:
            break
        pages.append(model.ChildrenPage(given(arguments.get("after"), -1), size, only))
    nested: model.ChildrenPage | None = None
    for page in reversed(pages):
        nested = page._replace(below=nested)
    assert nested is not None
    return nested


async def ancestors(node: Node, info: Info) -> Nodes:
    """All of them, the root first."""
    if isinstance(node, model.NodeWithAncestors):
        return list(node.ancestors)
    return (await ancestors_of([node], info.context, only_below(info)))[0]


async def siblings(node: Node, info: Info, first: int | None = 100, after: int | None = -1) -> Nodes:
    """A page of those with the same parent; for a root, of the other roots."""
    return (await siblings_of([node], info.context, only_below(info), first, after))[0]


async def refs(node: Node, info: Info, first: int | None = 100, offset: int | None = 0) -> Nodes:
    """Cross-links from here."""
    return (await refs_of([node], info.context, only_below(info), first, offset))[0]


async def referenced_by(node: Node, info: Info, first: int | None = 100, offset: int | None = 0) -> Nodes:
    """Cross-links to here."""
    return (await referenced_by_of([node], info.context, only_below(info), first, offset))[0]


async def session(node: Node, info: Info) -> model_session.Session | None:
    """The session that it stands for."""
    return await info.context.loaders.session.load(node.id)


@strawberry.type(
    description="One star of the map. id equals the id of its Session. "
    "Label and status are kept equal to the Session's in the same transaction."
)
class TopologyNode:
    """See `model.topology.TopologyNode`."""

    id: strawberry.ID
    parent_id: strawberry.ID | None
    label: str
    status: SessionStatus
    role: SessionRole
    depth: int = strawberry.field(description="Roots have depth 0.")
    index: int = strawberry.field(
        description="0-based place among its siblings in creation order (among roots too); unique, never renumbered."
    )
    child_count: int = strawberry.field(
        description="Number of direct children, archived ones included; reading it costs no extra query."
    )
    turn_count: int
    source_session_id: strawberry.ID | None = strawberry.field(
        description="Where the context came from, which may differ from the parent."
    )
    source_seq: int | None = strawberry.field(
        description="Last message of the source that the context includes; null when the fork took no context."
    )
    created_at: DateTime
    last_active_at: DateTime
    parent = strawberry.field(
        resolver=parent,
        graphql_type=Annotated["TopologyNode", strawberry.lazy("stello_graph.graphql.types.topology")] | None,
    )
    children = strawberry.field(
        resolver=children,
        metadata=of_many(children_of, "id", "child_count"),
        graphql_type=LazyNodes,
        description="Lazy: siblings expanded in one request cost one Cypher query per level, whatever their number.",
    )
    ancestors = strawberry.field(
        resolver=ancestors,
        metadata=of_many(ancestors_of, "id", "parent_id"),
        graphql_type=LazyNodes,
        description="Root first, self excluded.",
    )
    siblings = strawberry.field(
        resolver=siblings,
        metadata=of_many(siblings_of, "id"),
        graphql_type=LazyNodes,
        description="Same parent, self excluded, by index; for a root, the other roots. "
        "after is the index to continue from.",
    )
    refs = strawberry.field(
        resolver=refs,
        metadata=of_many(refs_of, "id"),
        graphql_type=LazyNodes,
        description="Cross-branch links, in insertion order.",
    )
    referenced_by = strawberry.field(
        resolver=referenced_by, metadata=of_many(referenced_by_of, "id"), graphql_type=LazyNodes
    )
    session = strawberry.field(
        resolver=session, graphql_type=LazySession | None, description="null where it was deleted meanwhile."
    )


async def node_of(event: strawberry.Parent[model.TopologyEvent], info: Info) -> model.TopologyNode | None:
    """The node as it is now."""
    return await info.context.loaders.node.load(event.node_id)


@strawberry.type
class TopologyEvent:
    """See `model.topology.TopologyEvent`."""

    seq: Long
    type: TopologyEventType
    node_id: strawberry.ID
    node = strawberry.field(
        resolver=node_of, graphql_type=TopologyNode | None, description="null once it is deleted."
    )
    data: JSON
    at: DateTime


@strawberry.type
class StarMap:
    """See `model.topology.StarMap`."""

    root_id: strawberry.ID | None
    node_count: int
    truncated: bool = strawberry.field(
        description="True where maxNodes cut it; whole levels are kept from the top."
    )
    event_seq: Long = strawberry.field(
        description="Read before the nodes: subscribe to topologyEvents after it and nothing is missed. "
        "Events after it may already show in the snapshot, so apply them idempotently."
    )
    columns: StarMapColumns = strawberry.field(
        description="Equal-length arrays, parents before children: id, parent (position in the arrays or -1), "
        "source (likewise: what a fork came from, -1 also where that is not in the map), label, status (0 active, 1 archived), role (0 standard, 1 main), depth, index, childCount, turnCount, "
        "lastActiveAt (epoch ms); and refs, an array of [from, to] positions. Nodes deeper than maxDepth are "
        "left out; childCount tells where there is more."
    )
