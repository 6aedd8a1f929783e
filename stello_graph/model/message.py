"""L3: the raw transcript."""

from collections.abc import Sequence
from enum import StrEnum
from typing import Any, NamedTuple

from stello_graph.model.parts import Only
from stello_graph.model.values import Usage, Value

__all__ = ["Draft", "Message", "MessagePage", "MessageRole", "MessageState", "ToolCall", "turns_of"]


class MessageRole(StrEnum):
    """Who speaks."""

    USER = "USER"
    ASSISTANT = "ASSISTANT"
    TOOL = "TOOL"


class MessageState(StrEnum):
    """TRUNCATED: an interrupted reply. CANCELLED: a result that stands for a call that never finished."""

    COMPLETE = "COMPLETE"
    TRUNCATED = "TRUNCATED"
    CANCELLED = "CANCELLED"


class ToolCall(Value):
    """A call that the model asks for; `arguments` is any JSON value."""

    id: str
    name: str
    arguments: Any


class Draft(Value):
    """A message that is not stored yet: what a Message says, without its place and time.

    Attributes:
        id: made by the writer, before the transaction, so that the write can be run again.
        parts: blocks as the model gave or got them, or None where there is only text.
        duration_ms: how long the tool ran, of a tool's result.
        created_at: UTC microseconds; None takes the store's clock.
    """

    id: str
    role: MessageRole
    content: str
    parts: Any = None
    state: MessageState = MessageState.COMPLETE
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False
    duration_ms: int | None = None
    model: str | None = None
    usage: Usage | None = None
    turn_id: str | None = None
    created_at: int | None = None


class Message(Draft):
    """A stored message, as seen through one session. Immutable.

    Attributes:
        seq: its place in the session, from 1, never renumbered.
        session_id: the session that it was written in.
        created_at: UTC microseconds.
    """

    seq: int
    session_id: str
    created_at: int


class MessagePage(NamedTuple):
    """`first` messages with after < seq < before, from the newest or from the oldest end.

    Attributes:
        only: the fields to read; None reads whole messages.
    """

    newest: bool
    after: int
    before: int
    first: int
    roles: tuple[MessageRole, ...] | None
    only: Only | None = None


def turns_of(messages: Sequence[Draft]) -> int:
    """How many turns a transcript holds that were not run here: user messages that got a reply."""
    turns, asked = 0, False
    for message in messages:
        if message.role is MessageRole.USER:
            asked = True
        elif message.role is MessageRole.ASSISTANT and asked:
            turns, asked = turns + 1, False
    return turns
