"""Queries. Reads go straight to the store of the caller's Space, which makes one of those of one moment.

Only what has texts goes by loaders, since the texts of one answer are read one after the other.
"""

from collections.abc import Sequence
from typing import Annotated

import strawberry
from strawberry import ID, UNSET

from stello_graph.errors import NotFound
from stello_graph.graphql.access import AccessQuery
from stello_graph.graphql.ahead import below, only_of_page
from stello_graph.graphql.arguments import checked_ids, given, page_size
from stello_graph.graphql.connections import Connection, connection
from stello_graph.graphql.context import Info
from stello_graph.graphql.enums import SearchScope, SessionRole, SessionStatus, TurnStatus
from stello_graph.graphql.knowledge import KnowledgeQuery
from stello_graph.graphql.scalars import Long
from stello_graph.graphql.types.profile import ForkProfile
from stello_graph.graphql.types.search import SearchHit
from stello_graph.graphql.types.session import DigestConnection, Session, SessionConnection, newest_below
from stello_graph.graphql.types.space import ContextPreview, Space, Tool, Viewer
from stello_graph.graphql.types.topology import StarMap, TopologyEvent, TopologyNode, nested_page
from stello_graph.graphql.types.turn import Turn
from stello_graph.ids import check_id
from stello_graph.model import context as model_context
from stello_graph.model import profile as model_profile
from stello_graph.model import search as model_search
from stello_graph.model import session as model_session
from stello_graph.model import space as model_space
from stello_graph.model import topology as model_topology
from stello_graph.model import turn as model_turn
from stello_graph.model import values
from stello_graph.model.checks import check_range
from stello_graph.model.writes import SessionFilter
from stello_graph.session.context.compile import Compiled

__all__ = ["Query"]


async def get_children(
    info: Info, parent_id: ID | None = UNSET, first: int | None = 100, after: int | None = -1
) -> list[model_topology.TopologyNode]:
    """A page of the children of a node, or of the roots."""
    parent = None if given(parent_id, None) is None else check_id(str(parent_id), "parentId")
    page = nested_page(info, first, after)
    found = await info.context.space().store.children([parent], **page._asdict())
    if (nodes := found.get(parent)) is None:
        raise NotFound.of("session", str(parent))
    return nodes


async def topology_node(info: Info, id: ID) -> model_topology.TopologyNode | None:
    """One node; with its ancestors where they are asked for."""
    store, id_ = info.context.space().store, check_id(id)
    if below(info, "ancestors") is not None:
        return (await store.nodes_with_ancestors([id_])).get(id_)
    return (await store.nodes([id_])).get(id_)


async def topology_nodes(info: Info, ids: list[ID]) -> list[model_topology.TopologyNode | None]:
    """Several nodes, in the order asked."""
    asked = checked_ids([str(id) for id in ids])
    found = await info.context.space().store.nodes(list(dict.fromkeys(asked))) if asked else {}
    return [found.get(id) for id in asked]


async def star_map(
    info: Info,
    root_id: ID | None = UNSET,
    max_depth: int | None = UNSET,
    max_nodes: int | None = 100_000,
    include_archived: bool | None = True,
) -> model_topology.StarMap:
    """The map, or the part of it below a node."""
    depth = given(max_depth, None)
    return await info.context.space().store.star_map(
        None if given(root_id, None) is None else check_id(str(root_id), "rootId"),
        max_depth=None if depth is None else check_range(depth, "maxDepth", 0),
        max_nodes=check_range(given(max_nodes, 100_000), "maxNodes", 1, 1_000_000),
        include_archived=given(include_archived, True),
    )


async def session(info: Info, id: ID) -> model_session.Session | None:
    """One session; with the page from the newest end of its transcript that is asked for."""
    page = newest_below(info)
    if page is not None:
        return await info.context.loaders.session_with_newest.of(check_id(id), page)
    return await info.context.loaders.session.load(check_id(id))


async def list_sessions(
    info: Info,
    status: SessionStatus | None = UNSET,
    role: SessionRole | None = UNSET,
    tag: str | None = UNSET,
    root_id: ID | None = UNSET,
    first: int | None = 50,
    after: str | None = UNSET,
) -> Connection[model_session.Session]:
    """A page of the sessions that fit, in order of creation."""
    store, size, start = info.context.space().store, page_size(first, 50), given(after, "")
    which = SessionFilter(
        status=given(status, None), role=given(role, None), tag=given(tag, None), root_id=_root(root_id)
    )
    found = await store.list_sessions(which, after=start and check_id(start, "after"), first=size + 1)
    return connection(
        found, size, lambda s: s.id, before_start=bool(start), count=lambda: store.count_sessions(which)
    )


async def digests(
    info: Info,
    status: SessionStatus | None = UNSET,
    root_id: ID | None = UNSET,
    changed_after: Long | None = UNSET,
    first: int | None = 100,
    after: str | None = UNSET,
) -> Connection[model_session.SessionDigest]:
    """A page of digests; pending insights are not consumed."""
    size, start = page_size(first, 100), given(after, "")
    page = await info.context.space().store.digests(
        SessionFilter(status=given(status, None), root_id=_root(root_id)),
        changed_after=given(changed_after, Long(0)),
        after=start and check_id(start, "after"),
        first=size + 1,
        only=only_of_page(info, "id"),
    )
    return connection(page.digests, size, lambda d: d.id, before_start=bool(start), event_seq=page.event_seq)


async def get_turn(info: Info, id: ID) -> model_turn.Turn | None:
    """One turn."""
    return await info.context.loaders.turn.load(check_id(id))


async def turns_by_status(info: Info, status: TurnStatus, first: int | None = 50) -> list[model_turn.Turn]:
    """The newest turns of the Space with one status."""
    return await info.context.space().store.turns_by_status(status, first=page_size(first, 50))


async def context_preview(info: Info, session_id: ID, content: str) -> Compiled:
    """What the model would see next."""
    return await info.context.space().preview(session_id, content)


async def fork_profiles(info: Info) -> list[model_profile.ForkProfile]:
    """The Space's recipes for forks."""
    return await info.context.space().store.profiles()


async def search(
    info: Info,
    query: str,
    scopes: Annotated[list[SearchScope] | None, strawberry.argument(name="in")] = list(SearchScope),  # noqa: B006
    root_id: ID | None = UNSET,
    first: int | None = 20,
) -> list[model_search.SearchHit]:
    """What is found, best first."""
    asked = given(scopes, list(SearchScope))
    return await info.context.space().search(query, asked, _root(root_id), page_size(first, 20))


def tools(info: Info) -> list[model_context.ToolSpec]:
    """What the server can run."""
    return list(info.context.space().tools)


async def get_space(info: Info) -> model_space.Space:
    """The caller's Space."""
    return await info.context.space().store.space()


def me(info: Info) -> values.Viewer:
    """Who asks."""
    return info.context.viewer


async def events(info: Info, after: Long, first: int | None = 500) -> Sequence[model_topology.TopologyEvent]:
    """A page of what happened on the map."""
    return await info.context.space().past_events(after, page_size(first, 500))


def _root(root_id: ID | None) -> str | None:
    return None if given(root_id, None) is None else check_id(str(root_id), "rootId")


@strawberry.type
class Query(KnowledgeQuery, AccessQuery):
    """What can be read."""

    get_children = strawberry.field(
        resolver=get_children,
        graphql_type=list[TopologyNode],
        description="Children of a node by index, or the roots of the Space where parentId is null. "
        "after is the index to continue from.",
    )
    topology_node = strawberry.field(resolver=topology_node, graphql_type=TopologyNode | None)
    topology_nodes = strawberry.field(
        resolver=topology_nodes,
        graphql_type=list[TopologyNode | None],
        description="In the order asked, null for those that do not exist.",
    )
    star_map = strawberry.field(resolver=star_map, graphql_type=StarMap)
    session = strawberry.field(resolver=session, graphql_type=Session | None)
    sessions = strawberry.field(resolver=list_sessions, graphql_type=SessionConnection)
    digests = strawberry.field(
        resolver=digests,
        graphql_type=DigestConnection,
        description="One bounded query, pending insights are not consumed. rootId limits it to one tree, "
        "changedAfter to what moved since an eventSeq.",
    )
    turn = strawberry.field(resolver=get_turn, graphql_type=Turn | None)
    turns_by_status = strawberry.field(
        resolver=turns_by_status,
        graphql_type=list[Turn],
        description="Newest first; with AWAITING_CONFIRMATION, the inbox of confirmations.",
    )
    context_preview = strawberry.field(resolver=context_preview, graphql_type=ContextPreview)
    search = strawberry.field(
        resolver=search,
        graphql_type=list[SearchHit],
        description="Full-text over labels, digests and messages, best first; Chinese, Japanese and Korean from one "
        "character on. May lag a second behind writes.",
    )
    fork_profiles = strawberry.field(resolver=fork_profiles, graphql_type=list[ForkProfile])
    tools = strawberry.field(
        resolver=tools,
        graphql_type=list[Tool],
        description="All that the server can run; a session may be offered fewer: see contextPreview.",
    )
    space = strawberry.field(resolver=get_space, graphql_type=Space)
    me = strawberry.field(resolver=me, graphql_type=Viewer, description="Who asks.")
    events = strawberry.field(
        resolver=events,
        graphql_type=list[TopologyEvent],
        description="Topology events after a sequence number, oldest first.",
    )
