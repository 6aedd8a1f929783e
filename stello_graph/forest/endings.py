"""How a turn ends: always in a legal transcript."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from stello_graph.errors import ErrorCode
from stello_graph.forest.turn_events import partial_of
from stello_graph.ids import new_id
from stello_graph.model.message import Draft, Message, MessageRole
from stello_graph.model.turn import StopReason, Turn, TurnError, TurnStatus
from stello_graph.model.values import Usage
from stello_graph.model.writes import TurnEnd
from stello_graph.session.context.closing import closing_messages

__all__ = ["Progress", "closed", "completed", "cut", "failed"]

_CLOSED = TurnError(code=ErrorCode.INTERNAL, message="the process that ran this turn ended", retryable=True)
_STOPPED = TurnError(
    code=ErrorCode.INTERNAL, message="the server was stopped while this turn ran", retryable=True
)
_REASONS = {
    StopReason.CANCELLED: "the turn was cancelled.",
    StopReason.INTERRUPTED: "the turn was interrupted.",
    StopReason.ERROR: "the model failed.",
}


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a turn has come.

    Attributes:
        written: what it has stored.
        results: by call, results of tools that are not stored yet.
        text: the reply that is being written, as far as it was heard.
        usage: of the model calls that came to their end.
    """

    turn: Turn
    written: Sequence[Message]
    results: Mapping[str, Draft]
    text: str
    usage: Usage


def completed(progress: Progress, messages: Sequence[Draft], stop: StopReason) -> TurnEnd:
    """The model said all that it had to say; `messages` are the last ones."""
    turn = progress.turn
    return TurnEnd(
        turn=turn,
        fence=turn.fence,
        status=TurnStatus.COMPLETED,
        stop_reason=stop,
        tool_rounds=turn.tool_rounds,
        messages=tuple(messages),
        usage=progress.usage,
    )


def failed(progress: Progress, error: TurnError) -> TurnEnd:
    """The model failed."""
    return _broken(progress, TurnStatus.FAILED, StopReason.ERROR, error)


def cut(progress: Progress, why: StopReason) -> TurnEnd:
    """Somebody stopped the turn."""
    if why is StopReason.CANCELLED:
        return _broken(progress, TurnStatus.CANCELLED, why, None)
    return _broken(progress, TurnStatus.FAILED, why, _STOPPED)


def closed(turn: Turn, written: Sequence[Message]) -> TurnEnd:
    """Nobody runs the turn any more; void where somebody does after all.

    One that was cancelled while it waited for a confirmation is CANCELLED; otherwise its process died.
    """
    held = {str(draft.tool_call_id): draft for draft in turn.held_results}
    progress = Progress(turn, written, held, partial_of(turn, written), turn.usage)
    if turn.status is TurnStatus.AWAITING_CONFIRMATION and turn.cancel_requested:
        end = _broken(progress, TurnStatus.CANCELLED, StopReason.CANCELLED, None)
    else:
        end = _broken(progress, TurnStatus.FAILED, StopReason.INTERRUPTED, _CLOSED)
    return end.model_copy(update={"closing": True})


def _broken(progress: Progress, status: TurnStatus, why: StopReason, error: TurnError | None) -> TurnEnd:
    """An end that is none: what was said so far is kept. A call that broke off counts, without tokens."""
    turn = progress.turn
    messages = closing_messages(
        progress.written,
        progress.text,
        _REASONS[why],
        new_id=new_id,
        turn_id=turn.id,
        results=progress.results,
    )
    broke_off = any(draft.role is MessageRole.ASSISTANT for draft in messages)
    return TurnEnd(
        turn=turn,
        fence=turn.fence,
        status=status,
        stop_reason=why,
        error=error,
        tool_rounds=turn.tool_rounds,
        messages=messages,
        usage=progress.usage + Usage(llm_calls=int(broke_off)),
    )
