"""What is asked to be written, checked and resolved before a store sees it."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from pydantic import Field, SkipValidation

from stello_graph.ids import new_id
from stello_graph.model.context import Conversation
from stello_graph.model.message import Draft, Message
from stello_graph.model.profile import ForkProfile
from stello_graph.model.session import Session, SessionDigest
from stello_graph.model.space import Space, SplitGuard
from stello_graph.model.turn import StopReason, Turn, TurnError, TurnStatus
from stello_graph.model.values import SessionRole, SessionStatus, TopologyStrategy, Usage, Value

__all__ = [
    "CompressionDraft",
    "DigestPage",
    "ForkDraft",
    "ForkSource",
    "Idempotency",
    "ImportDraft",
    "PlacedDraft",
    "SessionDraft",
    "SessionFilter",
    "StoredTranscript",
    "TurnBegun",
    "TurnEnd",
    "TurnExpired",
    "TurnJoined",
]


class CompressionDraft(Value):
    """A summary of all messages up to and including `through_seq`.

    Attributes:
        tokens: what the summary takes.
        first_seq: the first message that it covers, besides those of the summary that it extends.
        extends: the `through_seq` of that summary, 0 where there was none.
    """

    summary: str
    through_seq: int
    tokens: int
    first_seq: int
    extends: int = 0


class Idempotency(Value):
    """A caller's key with a hash of the input: the same pair gives the first result again."""

    key: str
    input_hash: str


class SessionDraft(Value):
    """A session to create. `strategy` None takes the Space's; under a parent the tree's counts."""

    id: str
    parent_id: str | None = None
    label: str
    role: SessionRole = SessionRole.STANDARD
    strategy: TopologyStrategy | None = None
    system_prompt: str | None = None
    skills: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()
    metadata: Any = None
    overrides: Mapping[str, str | None] = MappingProxyType({})


class ForkDraft(SessionDraft):
    """A fork to create, everything inherited resolved.

    Attributes:
        through_seq: the last message of the source that its context includes, None for none.
        inherits: whether it shares the messages up to there; else they are told in its system prompt.
        selected: what an application chose of the source's messages, stored as its first own messages.
        opening: the opening words, stored as its next own message.
        guard: holds the fork to the source's turns; None does not.
        usage: what the source's summary took; it counts for the source and the Space.
    """

    parent_id: str
    source_id: str
    through_seq: int | None = None
    inherits: bool = True
    selected: tuple[Draft, ...] = ()
    opening: Draft | None = None
    guard: SplitGuard | None = None
    usage: Usage = Usage()


class ForkSource(Value):
    """A source as a fork finds it.

    Attributes:
        tail: the messages at and directly after the cut.
        last_split: the turns that it had completed when it was last forked, None where it never was.
        profile: the one that was asked for, None where there is none of that name.
        made_before: the fork that was made with the same idempotency key and input before.
    """

    session: Session
    space: Space
    tail: tuple[Message, ...]
    last_split: int | None = None
    profile: ForkProfile | None = None
    made_before: str | None = None


class ImportDraft(Value):
    """An imported session: a root, or below `parent_id`.

    Attributes:
        source_id: the session that it was forked from; it is there before, where messages of it are shared.
        through_seq: the last message of the source that it shares, None for none.
        last_active_at: None for `updated_at`.
    """

    id: str
    parent_id: str | None = None
    source_id: str | None = None
    through_seq: int | None = None
    label: str
    role: SessionRole = SessionRole.STANDARD
    status: SessionStatus = SessionStatus.ACTIVE
    system_prompt: str | None = None
    skills: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()
    metadata: Any = None
    memory: str | None = None
    insight: str | None = None
    synthesis: str | None = None
    turn_count: int
    messages: tuple[Draft, ...]
    created_at: int | None = None
    updated_at: int | None = None
    last_active_at: int | None = None


class PlacedDraft(Value):
    """One of many sessions that are made at once: a root, or a child of one that is stored.

    Attributes:
        source_id: the fork's source, of which it shares no messages; None for no fork.
        strategy: of a root; None takes the Space's. Under a parent the tree's counts.
        updated_at, last_active_at: None for the other one.
    """

    id: str
    parent_id: str | None = None
    source_id: str | None = None
    label: str
    status: SessionStatus = SessionStatus.ACTIVE
    strategy: TopologyStrategy | None = None
    tags: tuple[str, ...] = ()
    metadata: Any = None
    messages: tuple[Draft, ...]
    created_at: int | None = None
    updated_at: int | None = None
    last_active_at: int | None = None


class StoredTranscript(Value):
    """Where a stored session ends, and the ids of its messages in order."""

    id: str
    next_seq: int
    message_ids: tuple[str, ...]


class SessionFilter(Value):
    """Which sessions are meant; None means all."""

    status: SessionStatus | None = None
    role: SessionRole | None = None
    tag: str | None = None
    root_id: str | None = None


class DigestPage(Value):
    """Some digests. `event_seq` was read before them."""

    event_seq: int
    digests: SkipValidation[tuple[SessionDigest, ...]]


class TurnBegun(Value):
    """The session is held now, and this is what the model is asked about."""

    turn: Turn
    conversation: Conversation
    user_message: Message
    insight_revision: int | None = None


class TurnJoined(Value):
    """The idempotency key is known: this is its turn."""

    turn: Turn


class TurnExpired(Value):
    """The session's turn lost its holder and has to be closed first."""

    turn: Turn


class TurnEnd(Value):
    """How a turn ends.

    Attributes:
        id: of this end, so that the write can be run again.
        fence: the holder's; a newer holder makes this end void.
        closing: True for one who is not the holder: refused while the lease runs, and where the holder stored
            something since `turn` was read.
        completed: counts as a turn of the user's, and consumes the pinned insight.
        messages: stored with it, in order.
        usage: of all its model calls.
    """

    id: str = Field(default_factory=new_id)
    turn: Turn
    fence: int
    closing: bool = False
    status: TurnStatus
    stop_reason: StopReason
    error: TurnError | None = None
    tool_rounds: int = 0
    messages: tuple[Draft, ...] = ()
    usage: Usage = Usage()

    @property
    def completed(self) -> bool:
        """Whether the reply came to its end."""
        return self.status is TurnStatus.COMPLETED
