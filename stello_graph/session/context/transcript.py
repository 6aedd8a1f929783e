"""A session's transcript in the neutral form: the summary of what came before, messages, the user's input."""

from collections.abc import Callable

from stello_graph.model.context import ContextMessage, ContextOrigin, Conversation, Role
from stello_graph.model.message import Message, MessageRole
from stello_graph.model.session import Session
from stello_graph.model.values import Usage
from stello_graph.session.context.text import plain

__all__ = ["Transcript", "summary_message", "transcript_of", "user_input"]

Transcript = tuple[ContextMessage, ...]

_ROLES: dict[MessageRole, Role] = {
    MessageRole.USER: "user",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.TOOL: "tool",
}


def transcript_of(conversation: Conversation, content: str) -> Transcript:
    """What is stored of the conversation, and `content` as the user's next words."""
    compression = conversation.session.compression
    through = compression.through_seq if compression else 0
    stored = [message for message in conversation.transcript if message.seq > through]
    counts = _usage_counts(conversation.session, stored)
    messages = (_neutral(message, message.usage if counts(message) else None) for message in stored)
    summary = (summary_message(compression.summary),) if compression else ()
    return (*summary, *messages, user_input(content))


def summary_message(summary: str) -> ContextMessage:
    """The slot of a compression summary."""
    return ContextMessage(role="system", content=plain(summary), origin=ContextOrigin.COMPRESSION)


def user_input(content: str) -> ContextMessage:
    """The slot of what the user says now."""
    return ContextMessage(role="user", content=content, origin=ContextOrigin.USER_INPUT)


def _usage_counts(session: Session, stored: list[Message]) -> Callable[[Message], bool]:
    """Tells of which messages the usage still measures this context.

    Not of those that a fork inherited, not of those written before the last compression, and of none
    where the transcript was trimmed: nothing says when.
    """
    compression = session.compression
    through, compressed_at = (compression.through_seq, compression.created_at) if compression else (0, 0)
    trimmed = bool(stored) and stored[0].seq > through + 1
    return lambda m: not trimmed and m.session_id == session.id and m.created_at >= compressed_at


def _neutral(message: Message, usage: Usage | None) -> ContextMessage:
    speaks = message.role is MessageRole.ASSISTANT
    answers = message.role is MessageRole.TOOL
    return ContextMessage(
        role=_ROLES[message.role],
        content=message.content,
        origin=ContextOrigin.TRANSCRIPT,
        seq=message.seq,
        parts=message.parts,
        tool_calls=message.tool_calls if speaks else (),
        tool_call_id=message.tool_call_id if answers else None,
        tool_name=message.tool_name if answers else None,
        is_error=answers and message.is_error,
        model=message.model if speaks else None,
        usage=usage if speaks else None,
    )
