"""What is stored of a Space, as it goes out of one store and into another."""

from stello_graph.model.message import Message
from stello_graph.model.session import Session
from stello_graph.model.turn import Turn
from stello_graph.model.values import Value

__all__ = ["MessageCopy", "Place", "RefCopy", "RefDraft", "RestoreDraft", "SessionCopy"]


class RefCopy(Value):
    """A link to another session. `at` in UTC microseconds."""

    to_id: str
    at: int


class SessionCopy(Session):
    """A session with its place in the topology.

    Attributes:
        index: its place among its siblings.
        split_turn: the turns that it had completed when it was last forked, None where it never was.
        insight_revision: grows with each insight, also of one that is gone.
        last_turn_number: of its newest turn.
        refs: what it refers to, in the order of insertion.
    """

    parent_id: str | None = None
    index: int = 0
    source_session_id: str | None = None
    source_seq: int | None = None
    split_turn: int | None = None
    insight_revision: int = 0
    last_turn_number: int = 0
    refs: tuple[RefCopy, ...] = ()


class MessageCopy(Message):
    """A message in a transcript. `is_shared`: another place has it too."""

    is_shared: bool


class Place(Value):
    """A place in a transcript. `message` is None for one that is stored already."""

    seq: int
    message_id: str
    message: Message | None = None


class RestoreDraft(Value):
    """A session to be stored as it is, but for numbers of events.

    Attributes:
        session: a root, or a child of one that is stored. `refs` are not looked at.
        places: its transcript, without gaps, to the place before `next_seq`.
        turns: in order, all ended.
    """

    session: SessionCopy
    places: tuple[Place, ...] = ()
    turns: tuple[Turn, ...] = ()


class RefDraft(Value):
    """A link to be stored with one of its sessions. `order`: smaller ones come first."""

    from_id: str
    to_id: str
    at: int
    order: int
