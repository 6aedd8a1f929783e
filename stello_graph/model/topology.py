"""The map: light nodes around the sessions."""

from enum import StrEnum
from typing import Any

from stello_graph.model.values import SessionRole, SessionStatus, Value

__all__ = ["Columns", "StarMap", "TopologyEventType", "TopologyNode"]

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


class StarMap(Value):
    """A snapshot of the map in columns, see `StarMap.columns` of the GraphQL schema."""

    root_id: str | None = None
    node_count: int
    truncated: bool
    event_seq: int
    columns: Columns


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
