"""L3, as the schema shows it."""

import strawberry

from stello_graph.graphql.enums import MessageRole, MessageState
from stello_graph.graphql.scalars import JSON, DateTime
from stello_graph.graphql.types.common import PageInfo, ToolCall, Usage, total_count

__all__ = ["Message", "MessageConnection", "MessageEdge"]


@strawberry.type(description="One message of a transcript. Immutable.")
class Message:
    """See `model.message.Message`."""

    id: strawberry.ID
    seq: int = strawberry.field(
        description="Its place, counted from 1, never renumbered: a trimmed session starts above 1, "
        "a fork keeps the source's numbers and goes on from them."
    )
    role: MessageRole
    content: str = strawberry.field(description="The text. What is not text is in parts.")
    parts: JSON | None = strawberry.field(
        description="Blocks as the model gave or got them (images, documents, thinking with its signature), "
        "or null where there is only text."
    )
    state: MessageState
    tool_calls: list[ToolCall]
    tool_call_id: str | None
    tool_name: str | None
    is_error: bool
    session_id: strawberry.ID = strawberry.field(
        description="The session it was written in, which may be another one than it is read through, "
        "and may be deleted."
    )
    model: str | None
    usage: Usage | None
    turn_id: strawberry.ID | None
    created_at: DateTime


@strawberry.type
class MessageEdge:
    """A message and its cursor."""

    cursor: str
    node: Message


@strawberry.type
class MessageConnection:
    """A page of messages, oldest first."""

    nodes: list[Message]
    edges: list[MessageEdge]
    page_info: PageInfo
    total_count = strawberry.field(resolver=total_count, graphql_type=int)
