"""Sessions and their memory, as the schema shows them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import strawberry
from strawberry import UNSET

from stello_graph.errors import InvalidInput
from stello_graph.graphql.ahead import below, only_of_page
from stello_graph.graphql.arguments import given, page_size
from stello_graph.graphql.connections import Connection, connection, cursor_seq
from stello_graph.graphql.context import Info
from stello_graph.graphql.enums import MessageRole, SessionRole, SessionStatus, TopologyStrategy
from stello_graph.graphql.loaders import Page
from stello_graph.graphql.scalars import JSON, DateTime, Long
from stello_graph.graphql.types.common import PageInfo, Usage, total_count
from stello_graph.graphql.types.message import MessageConnection
from stello_graph.graphql.types.turn import Turn
from stello_graph.ids import check_id
from stello_graph.model import message as model_message
from stello_graph.model import session as model
from stello_graph.model import topology as model_topology
from stello_graph.model import turn as model_turn
from stello_graph.model.message import MessagePage
from stello_graph.model.parts import Only

if TYPE_CHECKING:
    from stello_graph.graphql.types.topology import TopologyNode

__all__ = ["DigestConnection", "Session", "SessionConnection", "newest_below"]

Parent = strawberry.Parent[model.Session]
LazyNode = Annotated["TopologyNode", strawberry.lazy("stello_graph.graphql.types.topology")]

_END = 2**31 - 1


async def messages(
    session: Parent,
    info: Info,
    first: int | None = UNSET,
    after: str | None = UNSET,
    last: int | None = UNSET,
    before: str | None = UNSET,
    roles: list[MessageRole] | None = UNSET,
) -> Connection[model_message.Message]:
    """A page of the transcript, from either end."""
    page = _page(first, after, last, before, roles, only_of_page(info, "seq"))
    if isinstance(session, model.SessionWithMessages) and session.page == page:
        found: Sequence[model_message.Message] = session.messages
    else:
        found = await info.context.loaders.messages.of(session.id, page) or []

    async def count() -> int:
        if page.roles is None:
            return session.message_count
        return await info.context.loaders.message_count.of(session.id, page.roles) or 0

    start = session.next_seq - session.message_count
    more = page.before < session.next_seq if page.newest else page.after >= start
    return connection(
        found, page.first - 1, lambda m: str(m.seq), newest=page.newest, before_start=more, count=count
    )


def newest_below(info: Info) -> MessagePage | None:
    """The page of the newest messages that is asked for below a session, None where there is none."""
    arguments = below(info, "messages")
    try:
        if arguments is None or arguments.get("roles"):
            return None
        page = _page(**arguments, only=only_of_page(info, "seq", "messages"))
    except InvalidInput:
        return None
    return page if page.newest else None


def _page(
    first: int | None = UNSET,
    after: str | None = UNSET,
    last: int | None = UNSET,
    before: str | None = UNSET,
    roles: Sequence[MessageRole] | None = UNSET,
    only: Only | None = None,
) -> MessagePage:
    """With one message more than asked for, which tells whether there are more."""
    if given(first, None) is not None and given(last, None) is not None:
        raise InvalidInput("first and last do not go together")
    newest = given(first, None) is None
    return MessagePage(
        newest=newest,
        after=0 if not given(after, "") else cursor_seq(given(after, ""), "after"),
        before=_END if not given(before, "") else cursor_seq(given(before, ""), "before"),
        first=1 + page_size(last if newest else first, 50, "last" if newest else "first"),
        roles=tuple(dict.fromkeys(given(roles, []))) or None,
        only=only,
    )


async def active_turn(session: Parent, info: Info) -> model_turn.Turn | None:
    """The turn that holds the session."""
    if session.open_turn_id is None:
        return None
    turn = await info.context.loaders.turn.load(session.open_turn_id)
    return turn if turn is not None and turn.is_open else None


async def turns(
    session: Parent, info: Info, last: int | None = 20, before: str | None = UNSET
) -> list[model_turn.Turn]:
    """The newest turns before one, oldest first."""
    number = _END
    if given(before, ""):
        known = await info.context.loaders.turn.load(check_id(given(before, ""), "before"))
        if known is None or known.session_id != session.id:
            raise InvalidInput("before is no turn of this session")
        number = known.number
    page = Page(number, page_size(last, 20, "last"))
    return await info.context.loaders.turns_of.of(session.id, page) or []


async def node(session: Parent, info: Info) -> model_topology.TopologyNode | None:
    """Its star on the map."""
    return await info.context.loaders.node.load(session.id)


@strawberry.type(
    description="Pending one-shot insight: in the prompts of the next turn, gone once that turn completes."
)
class Insight:
    """See `model.session.Insight`."""

    content: str
    source_session_id: strawberry.ID | None
    put_at: DateTime
    revision: int


@strawberry.type(description="What this session sets for itself; null: the Space's.")
class SessionOverrides:
    """See `model.session.SessionOverrides`."""

    model: str | None
    consolidate_prompt: str | None
    integrate_prompt: str | None
    compress_prompt: str | None
    role_context: str | None


@strawberry.type(
    description="The standing summary of the transcript up to throughSeq, reused and extended rather than recomputed."
)
class Compression:
    """See `model.session.Compression`."""

    summary: str
    through_seq: int
    tokens: int
    created_at: DateTime


@strawberry.type
class Session:
    """See `model.session.Session`."""

    id: strawberry.ID
    label: str
    role: SessionRole
    status: SessionStatus
    strategy: TopologyStrategy
    system_prompt: str | None = strawberry.field(
        description="null: the Space's, resolved when the context is compiled."
    )
    skills: list[str] | None = strawberry.field(
        description="null: all skills. []: none. Otherwise the whitelist, enforced when a skill is activated."
    )
    tags: list[str]
    metadata: JSON
    memory: str | None = strawberry.field(
        description="L2: the digest that others read. Never part of this session's own prompt."
    )
    insight: Insight | None = strawberry.field(
        description="Pending one-shot insight: in the prompts of the next turn, gone once that turn completes."
    )
    synthesis: str | None = strawberry.field(
        description="MAIN only: the standing overall view, in each of its prompts."
    )
    rollup: str | None = strawberry.field(
        description="HIERARCHICAL only, inner nodes: what the subtree looks like from above; "
        "read by the level above, never in a prompt of its own."
    )
    compression: Compression | None
    overrides: SessionOverrides
    turn_count: int = strawberry.field(description="Completed user turns.")
    message_count: int
    usage: Usage
    created_at: DateTime
    updated_at: DateTime
    last_active_at: DateTime
    messages = strawberry.field(
        resolver=messages,
        graphql_type=MessageConnection,
        description="L3, oldest first. Pass last/before to read from the newest end; neither first nor last: "
        "the last 50; both: INVALID_INPUT.",
    )
    active_turn = strawberry.field(
        resolver=active_turn,
        graphql_type=Turn | None,
        description="The turn that holds the session now, if any.",
    )
    turns = strawberry.field(resolver=turns, graphql_type=list[Turn])
    node = strawberry.field(
        resolver=node, graphql_type=LazyNode | None, description="null where it was deleted meanwhile."
    )


@strawberry.type(description="What the other sessions may know of one session.")
class SessionDigest:
    """See `model.session.SessionDigest`."""

    id: strawberry.ID
    label: str
    status: SessionStatus
    memory: str | None
    rollup: str | None
    insight: str | None
    updated_at: DateTime
    event_seq: Long


@strawberry.type
class SessionEdge:
    """A session and its cursor."""

    cursor: str
    node: Session


@strawberry.type
class SessionConnection:
    """A page of sessions."""

    nodes: list[Session]
    edges: list[SessionEdge]
    page_info: PageInfo
    total_count = strawberry.field(resolver=total_count, graphql_type=int)


@strawberry.type
class DigestEdge:
    """A digest and its cursor."""

    cursor: str
    node: SessionDigest


@strawberry.type
class DigestConnection:
    """A page of digests."""

    nodes: list[SessionDigest]
    edges: list[DigestEdge]
    page_info: PageInfo
    event_seq: Long = strawberry.field(
        description="Pass it as changedAfter next time and no change is missed."
    )
