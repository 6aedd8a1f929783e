"""A session and what it remembers."""

from collections.abc import Sequence
from typing import Any

from pydantic import SkipValidation

from stello_graph.model.message import Message, MessagePage
from stello_graph.model.values import SessionRole, SessionStatus, TopologyStrategy, Usage, Value

__all__ = ["Compression", "Insight", "Session", "SessionDigest", "SessionOverrides", "SessionWithMessages"]


class Insight(Value):
    """A one-shot hint, pending until a turn completes with it. `put_at` in UTC microseconds."""

    content: str
    source_session_id: str | None = None
    put_at: int
    revision: int


class Compression(Value):
    """The standing summary of the transcript up to and including `through_seq`."""

    summary: str
    through_seq: int
    tokens: int
    created_at: int


class SessionOverrides(Value):
    """What a session sets for itself; None takes the Space's."""

    model: str | None = None
    consolidate_prompt: str | None = None
    integrate_prompt: str | None = None
    compress_prompt: str | None = None
    role_context: str | None = None


class Session(Value):
    """One isolated conversation. Times are UTC microseconds.

    Attributes:
        skills: None allows all, an empty tuple none.
        memory: L2, read by others, never part of this session's own prompt.
        memory_revision: grows with each write of `memory`.
        memory_through_seq: the last message that consolidating has seen.
        synthesis_revision: grows with each write of `synthesis`.
        integrated_seq: the event number up to which `synthesis` knows all digests.
        next_seq: the place of the next message.
        open_turn_id: the turn that holds the session, or None.
        event_seq: number of the last event that changed this session's digest.
    """

    id: str
    label: str
    role: SessionRole
    status: SessionStatus
    strategy: TopologyStrategy
    system_prompt: str | None = None
    skills: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()
    metadata: Any = None
    memory: str | None = None
    memory_revision: int = 0
    memory_through_seq: int = 0
    insight: Insight | None = None
    synthesis: str | None = None
    synthesis_revision: int = 0
    integrated_seq: int = 0
    rollup: str | None = None
    compression: Compression | None = None
    overrides: SessionOverrides = SessionOverrides()
    turn_count: int = 0
    message_count: int = 0
    next_seq: int = 1
    open_turn_id: str | None = None
    usage: Usage = Usage()
    root_id: str
    event_seq: int = 0
    created_at: int
    updated_at: int
    last_active_at: int


class SessionWithMessages(Session):
    """A session, read together with a page of its messages."""

    page: MessagePage
    messages: SkipValidation[Sequence[Message]]


class SessionDigest(Value):
    """What the other sessions may know of one session.

    Attributes:
        memory_seq: number of the event since which `memory` is news to others; 0 where there is none.
    """

    id: str
    label: str
    status: SessionStatus
    memory: str | None = None
    rollup: str | None = None
    insight: str | None = None
    updated_at: int
    event_seq: int
    memory_seq: int = 0
