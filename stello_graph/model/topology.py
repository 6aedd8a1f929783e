"""The map: light nodes around the sessions."""

from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import SkipValidation

from stello_graph.model.parts import Only
from stello_graph.model.values import SessionRole, SessionStatus, Value

__all__ = [
    "Children",
    "ChildrenPage",
    "Columns",
    "EventPage",
    "NodeWithAncestors",
    "NodeWithChildren",
    "StarMap",
    "TopologyEvent",
    "TopologyEventType",
    "TopologyNode",
]

Columns = dict[str, list[Any]]


class TopologyNode(Value):
    """One star of the map. `id` is also the id of its Session. Times are UTC microseconds."""

    id: str
    parent_id: str | None = None
    label: str
    status: SessionStatus
    role: SessionRole
    depth: int
    index: int
    child_count: int
    turn_count: int
    source_session_id: str | None = None
    source_seq: int | None = None
    created_at: int
    last_active_at: int


class ChildrenPage(NamedTuple):
    """A page of the children of a node.

    Attributes:
        after: the index to go on from.
        first: how many at most.
        only: the fields to read; None reads whole nodes.
        below: the page of their own children to read with each, of parts alone.
    """

    after: int
    first: int
    only: Only | None = None
    below: "ChildrenPage | None" = None

    def covers(self, page: "ChildrenPage") -> bool:
        """Whether nodes that were read as this page can be told as that one."""
        if self.only is None or page.only is None or not set(page.only) <= set(self.only):
            return False
        return self[:2] == page[:2]


class Children(NamedTuple):
    """A page of children that was read."""

    page: ChildrenPage
    nodes: list[TopologyNode]


class NodeWithChildren(TopologyNode):
    """A node, read together with a page of its children."""

    children: Children


class NodeWithAncestors(TopologyNode):
    """A node, read together with its ancestors, the root first."""

    ancestors: tuple[TopologyNode, ...]


class StarMap(Value):
    """A snapshot of the map in columns, see `StarMap.columns` of the GraphQL schema."""

    root_id: str | None = None
    node_count: int
    truncated: bool
    event_seq: int
    columns: SkipValidation[Columns]


class TopologyEventType(StrEnum):
    """What happened on the map."""

    SESSION_CREATED = "SESSION_CREATED"
    SESSION_FORKED = "SESSION_FORKED"
    SESSION_UPDATED = "SESSION_UPDATED"
    SESSION_ARCHIVED = "SESSION_ARCHIVED"
    SESSION_UNARCHIVED = "SESSION_UNARCHIVED"
    SESSION_DELETED = "SESSION_DELETED"
    REF_ADDED = "REF_ADDED"
    REF_REMOVED = "REF_REMOVED"
    MEMORY_UPDATED = "MEMORY_UPDATED"
    INSIGHT_PUT = "INSIGHT_PUT"
    INSIGHT_CONSUMED = "INSIGHT_CONSUMED"
    SYNTHESIS_UPDATED = "SYNTHESIS_UPDATED"
    TURN_ENDED = "TURN_ENDED"
    TASK_FAILED = "TASK_FAILED"


class TopologyEvent(Value):
    """One change of the map, numbered per Space without gaps.

    Attributes:
        root_id: the root of the tree that the node is in, or was in before it was deleted.
        data: what belongs to the type, such as `toId` of a reference or `ids` of what was deleted.
        at: UTC microseconds.
    """

    seq: int
    type: TopologyEventType
    node_id: str
    root_id: str
    data: dict[str, Any]
    at: int


class EventPage(Value):
    """Events in the order of their numbers.

    Attributes:
        newest: the number of the Space's newest event, 0 where there was none yet.
    """

    newest: int
    events: tuple[TopologyEvent, ...]
