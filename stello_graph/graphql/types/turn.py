"""Turns and what they emit, as the schema shows them."""

import strawberry

from stello_graph.graphql.context import Info
from stello_graph.graphql.enums import ErrorCode, StopReason, TurnStatus
from stello_graph.graphql.scalars import DateTime, Long
from stello_graph.graphql.types.common import ToolCall, Usage
from stello_graph.graphql.types.message import Message
from stello_graph.model import message as model_message
from stello_graph.model import turn as model

__all__ = ["EVENT_TYPES", "Turn", "TurnEvent"]

Parent = strawberry.Parent[model.Turn]


async def messages(turn: Parent, info: Info) -> list[model_message.Message]:
    """What it wrote."""
    return await info.context.loaders.turn_messages.load(turn.id) or []


async def reply(turn: Parent, info: Info) -> model_message.Message | None:
    """The last thing that the assistant said."""
    written = await messages(turn, info)
    return next((m for m in reversed(written) if m.role is model_message.MessageRole.ASSISTANT), None)


@strawberry.type
class TurnError:
    """See `model.turn.TurnError`."""

    code: ErrorCode
    message: str
    retryable: bool


@strawberry.type
class Turn:
    """See `model.turn.Turn`."""

    id: strawberry.ID
    session_id: strawberry.ID
    status: TurnStatus
    stop_reason: StopReason | None = strawberry.field(
        description="null while it runs. A turn whose process died is FAILED with INTERRUPTED."
    )
    reply = strawberry.field(
        resolver=reply,
        graphql_type=Message | None,
        description="The last assistant message, null until there is one.",
    )
    messages = strawberry.field(
        resolver=messages,
        graphql_type=list[Message],
        description="All that the turn wrote, the user message first.",
    )
    tool_rounds: int
    pending_tool_calls: list[ToolCall] = strawberry.field(description="Calls that wait for confirmToolCall.")
    usage: Usage
    error: TurnError | None
    started_at: DateTime
    ended_at: DateTime | None


@strawberry.interface(
    description="seq grows by one with each event and by the length in characters with each text delta, so that "
    "any process can replay after any seq from what is stored. Deltas may be cut differently in a replay."
)
class TurnEvent:
    """See `model.turn.TurnEvent`."""

    turn_id: strawberry.ID
    seq: Long
    at: DateTime

    @classmethod
    def is_type_of(cls, value: object, _info: Info) -> bool:
        """By the model's class of the same name."""
        return type(value).__name__ == cls.__name__


@strawberry.type
class TurnStarted(TurnEvent):
    """See `model.turn.TurnStarted`."""

    turn: Turn


@strawberry.type
class TextDelta(TurnEvent):
    """See `model.turn.TextDelta`."""

    round: int
    text: str


@strawberry.type
class ToolCallStarted(TurnEvent):
    """See `model.turn.ToolCallStarted`."""

    round: int
    tool_call: ToolCall


@strawberry.type
class ToolCallFinished(TurnEvent):
    """See `model.turn.ToolCallFinished`."""

    round: int
    tool_call_id: str
    is_error: bool
    content: str
    duration_ms: int


@strawberry.type
class ConfirmationRequested(TurnEvent):
    """See `model.turn.ConfirmationRequested`."""

    tool_call: ToolCall


@strawberry.type
class MessageStored(TurnEvent):
    """See `model.turn.MessageStored`."""

    message: Message


@strawberry.type(description="Always the last, whatever the outcome.")
class TurnEnded(TurnEvent):
    """See `model.turn.TurnEnded`."""

    turn: Turn


EVENT_TYPES = (
    TurnStarted,
    TextDelta,
    ToolCallStarted,
    ToolCallFinished,
    ConfirmationRequested,
    MessageStored,
    TurnEnded,
)
