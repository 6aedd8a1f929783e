"""How a turn ends: always in a legal transcript."""

from collections.abc import Sequence

from stello_graph.errors import ErrorCode
from stello_graph.ids import new_id
from stello_graph.model.context import Reply, ReplyStop
from stello_graph.model.message import Draft, Message, MessageRole, MessageState
from stello_graph.model.turn import StopReason, Turn, TurnError, TurnStatus
from stello_graph.model.values import Usage
from stello_graph.model.writes import TurnEnd
from stello_graph.session.context.closing import closing_messages

__all__ = ["closed", "completed", "cut", "failed"]

_CLOSED = TurnError(code=ErrorCode.INTERNAL, message="the process that ran this turn ended", retryable=True)
_STOPPED = TurnError(
    code=ErrorCode.INTERNAL, message="the server was stopped while this turn ran", retryable=True
)
_REASONS = {
    StopReason.CANCELLED: "the turn was cancelled.",
    StopReason.INTERRUPTED: "the turn was interrupted.",
    StopReason.ERROR: "the model failed.",
}
_STOPS = {
    ReplyStop.END_TURN: StopReason.END_TURN,
    ReplyStop.TOOL_USE: StopReason.END_TURN,
    ReplyStop.MAX_TOKENS: StopReason.MAX_TOKENS,
    ReplyStop.REFUSAL: StopReason.REFUSAL,
}


def completed(turn: Turn, reply: Reply) -> TurnEnd:
    """The model said all that it had to say."""
    messages: list[Draft] = []
    if reply.text or reply.tool_calls or reply.parts:
        messages.append(
            Draft(
                id=new_id(),
                role=MessageRole.ASSISTANT,
                content=reply.text,
                parts=reply.parts,
                state=MessageState.TRUNCATED if reply.stop is ReplyStop.MAX_TOKENS else MessageState.COMPLETE,
                tool_calls=reply.tool_calls,
                model=reply.model,
                usage=reply.usage,
                turn_id=turn.id,
            )
        )
    unanswered = closing_messages(messages, "", "there is no such tool.", new_id=new_id, turn_id=turn.id)
    return TurnEnd(
        turn=turn,
        fence=turn.fence,
        status=TurnStatus.COMPLETED,
        stop_reason=_STOPS[reply.stop],
        messages=(*messages, *unanswered),
        usage=reply.usage,
        new_usage=reply.usage,
    )


def failed(turn: Turn, text: str, error: TurnError) -> TurnEnd:
    """The model failed after `text`."""
    return _broken(turn, text, TurnStatus.FAILED, StopReason.ERROR, error)


def cut(turn: Turn, text: str, why: StopReason) -> TurnEnd:
    """Somebody stopped the turn after `text`."""
    if why is StopReason.CANCELLED:
        return _broken(turn, text, TurnStatus.CANCELLED, why, None)
    return _broken(turn, text, TurnStatus.FAILED, why, _STOPPED)


def _broken(turn: Turn, text: str, status: TurnStatus, why: StopReason, error: TurnError | None) -> TurnEnd:
    """An end that is none: what was said so far is kept."""
    usage = Usage(llm_calls=1) if text else Usage()
    return TurnEnd(
        turn=turn,
        fence=turn.fence,
        status=status,
        stop_reason=why,
        error=error,
        messages=closing_messages((), text, _REASONS[why], new_id=new_id, turn_id=turn.id),
        usage=usage,
        new_usage=usage,
    )


def closed(turn: Turn, written: Sequence[Message]) -> TurnEnd:
    """The process that ran the turn died; void where it lives after all."""
    why = StopReason.INTERRUPTED
    return TurnEnd(
        turn=turn,
        fence=turn.fence,
        closing=True,
        status=TurnStatus.FAILED,
        stop_reason=why,
        error=_CLOSED,
        tool_rounds=turn.tool_rounds,
        messages=closing_messages(written, turn.partial, _REASONS[why], new_id=new_id, turn_id=turn.id),
        usage=turn.usage,
    )
