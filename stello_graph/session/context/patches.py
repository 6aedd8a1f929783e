"""What happened since a transcript was read, as typed patches, and the one function that applies them."""

from collections.abc import Iterable
from typing import Any

from stello_graph.model.context import ContextMessage, ContextOrigin
from stello_graph.model.message import Draft, Message, MessageRole, MessageState, ToolCall
from stello_graph.model.values import Usage, Value
from stello_graph.session.context.text import is_blank
from stello_graph.session.context.transcript import Transcript, summary_message

__all__ = [
    "AssistantMessage",
    "AssistantTruncated",
    "ContextSummary",
    "MultimodalToolResult",
    "Patch",
    "ToolCancelled",
    "ToolResult",
    "patch",
    "patch_of",
]


class AssistantMessage(Value):
    """The model said something, or asked for tools. `seq` where it is stored already."""

    content: str = ""
    parts: Any = None
    tool_calls: tuple[ToolCall, ...] = ()
    model: str | None = None
    usage: Usage | None = None
    seq: int | None = None


class AssistantTruncated(AssistantMessage):
    """The model was cut off, by a limit, a cancellation or a crash: what it had said until then."""


class ToolResult(Value):
    """A tool answered a call."""

    tool_call_id: str
    tool_name: str | None = None
    content: str
    is_error: bool = False
    seq: int | None = None


class MultimodalToolResult(ToolResult):
    """A tool answered a call with more than text: `parts` go with, or instead of, `content`."""

    content: str = ""
    parts: Any


class ToolCancelled(Value):
    """A call never finished; `content` is the sentence that tells the model why."""

    tool_call_id: str
    tool_name: str | None = None
    content: str
    seq: int | None = None


class ContextSummary(Value):
    """The transcript was compressed: `summary` stands for all up to and including `through_seq`."""

    summary: str
    through_seq: int


Patch = (
    AssistantMessage | AssistantTruncated | ToolResult | MultimodalToolResult | ToolCancelled | ContextSummary
)


def patch(transcript: Transcript, patches: Iterable[Patch]) -> Transcript:
    """The transcript after `patches`, applied in order.

    A message is appended. A summary takes the place of the one before and of every message up to its
    `through_seq`; messages without a seq (the user's input, and what is not stored yet) stay. Legality
    is none of this function's business: render makes any result of it legal.
    """
    for each in patches:
        match each:
            case ContextSummary():
                transcript = _summarised(transcript, each)
            case _:
                transcript = (*transcript, _message(each))
    return transcript


def patch_of(draft: Draft) -> Patch:
    """The patch that a turn's stored message, or one about to be stored, stands for.

    Raises:
        ValueError: the user's message is no patch, it is what the turn answers.
    """
    seq = draft.seq if isinstance(draft, Message) else None
    match draft.role:
        case MessageRole.ASSISTANT:
            kind = AssistantTruncated if draft.state is MessageState.TRUNCATED else AssistantMessage
            return kind(
                content=draft.content,
                parts=draft.parts,
                tool_calls=draft.tool_calls,
                model=draft.model,
                usage=draft.usage,
                seq=seq,
            )
        case MessageRole.TOOL:
            return _result_patch(draft, seq)
        case _:
            raise ValueError("a user's message is no patch")


def _result_patch(draft: Draft, seq: int | None) -> Patch:
    call, name, content = draft.tool_call_id or "", draft.tool_name, draft.content
    if draft.state is MessageState.CANCELLED:
        return ToolCancelled(tool_call_id=call, tool_name=name, content=content, seq=seq)
    if draft.parts is None:
        return ToolResult(
            tool_call_id=call, tool_name=name, content=content, is_error=draft.is_error, seq=seq
        )
    return MultimodalToolResult(
        tool_call_id=call,
        tool_name=name,
        content=content,
        parts=draft.parts,
        is_error=draft.is_error,
        seq=seq,
    )


def _summarised(transcript: Transcript, summary: ContextSummary) -> Transcript:
    if is_blank(summary.summary):
        return transcript
    rest = (
        # A call's usage measured the longer context: after a summary it says nothing any more.
        message.model_copy(update={"usage": None}) if message.usage else message
        for message in transcript
        if message.origin is not ContextOrigin.COMPRESSION and not _covered(message, summary.through_seq)
    )
    return (summary_message(summary.summary), *rest)


def _covered(message: ContextMessage, through_seq: int) -> bool:
    return message.seq is not None and message.seq <= through_seq


def _message(each: AssistantMessage | ToolResult | ToolCancelled) -> ContextMessage:
    if isinstance(each, AssistantMessage):
        return ContextMessage(
            role="assistant",
            content=each.content,
            origin=ContextOrigin.TRANSCRIPT,
            seq=each.seq,
            parts=each.parts,
            tool_calls=each.tool_calls,
            model=each.model,
            usage=each.usage,
        )
    return ContextMessage(
        role="tool",
        content=each.content,
        origin=ContextOrigin.TRANSCRIPT,
        seq=each.seq,
        parts=each.parts if isinstance(each, MultimodalToolResult) else None,
        tool_call_id=each.tool_call_id,
        tool_name=each.tool_name,
        is_error=each.is_error if isinstance(each, ToolResult) else True,
    )
