"""Subscriptions."""

from collections.abc import AsyncIterator
from contextlib import aclosing

import strawberry
from strawberry import ID, UNSET

from stello_graph.graphql.arguments import given
from stello_graph.graphql.context import Info
from stello_graph.graphql.scalars import Long
from stello_graph.graphql.types.topology import TopologyEvent
from stello_graph.graphql.types.turn import TurnEvent
from stello_graph.model import topology as model_topology
from stello_graph.model import turn as model_turn
from stello_graph.model.checks import check_range

__all__ = ["Subscription"]


_START = Long(0)


async def turn_events(
    info: Info, turn_id: ID, after: Long | None = _START
) -> AsyncIterator[model_turn.TurnEvent]:
    """Replays a turn after a number, then follows it live."""
    seq = check_range(given(after, _START), "after", 0, 2**53)
    space = info.context.space()
    with space.subscription():
        async for event in space.turn_events(turn_id, seq):
            yield event


async def topology_events(
    info: Info, after: Long | None = UNSET, root_id: ID | None = UNSET
) -> AsyncIterator[model_topology.TopologyEvent]:
    """Follows the map."""
    seq, root = given(after, None), given(root_id, None)
    space = info.context.space()
    with space.subscription():
        async with aclosing(space.events(seq, None if root is None else str(root))) as events:
            async for event in events:
                yield event


@strawberry.type
class Subscription:
    """What can be followed."""

    turn_events = strawberry.subscription(
        resolver=turn_events,
        graphql_type=AsyncIterator[TurnEvent],
        description="Joins a running or ended turn, in any process: what it emitted after seq, then live. In another "
        "process than the turn's own, text arrives at the pace at which it is stored (about every two seconds).",
    )
    topology_events = strawberry.subscription(
        resolver=topology_events,
        graphql_type=AsyncIterator[TopologyEvent],
        description="Every change of the map after a sequence number, in order, without gaps or repeats, "
        "from whichever process made it.",
    )
