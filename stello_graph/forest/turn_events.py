"""What a turn emits, numbered so that any process can replay it from what is stored.

The numbers follow from the stored turn alone: one for each event, and one for each character of
text (code points; a delta carries the number of its last character). So events come in one order,
whatever happens side by side: of a round first its reply, then what its tools do by the order of
the calls (those that run at once, the questions, those that were approved), then their results.
"""

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, TypeVar

from stello_graph.model.message import Draft, Message, MessageRole, MessageState, ToolCall
from stello_graph.model.turn import (
    ConfirmationRequested,
    MessageStored,
    TextDelta,
    ToolCallFinished,
    ToolCallStarted,
    Turn,
    TurnEnded,
    TurnEvent,
    TurnStarted,
    TurnStatus,
)
from stello_graph.model.values import Usage
from stello_graph.session.context.text import is_blank

__all__ = ["EventLog", "after", "partial_of", "replay"]

E = TypeVar("E", bound=TurnEvent)

_AT_FIRST: Mapping[str, Any] = {
    "status": TurnStatus.RUNNING,
    "stop_reason": None,
    "error": None,
    "ended_at": None,
    "tool_rounds": 0,
    "pending_tool_calls": (),
    "usage": Usage(),
    "partial": "",
}


class EventLog:
    """Numbers the events of one turn as they happen."""

    def __init__(self, turn: Turn) -> None:
        self.events: list[TurnEvent] = []
        self._turn_id = turn.id
        self._seq = 0
        self._add(TurnStarted, turn.started_at, turn=turn.model_copy(update=_AT_FIRST))

    def text(self, text: str, round: int, at: int) -> None:
        """Some text of the reply."""
        self._add(TextDelta, at, len(text), round=round, text=text)

    def stored(self, message: Message) -> None:
        """A message was stored."""
        self._add(MessageStored, message.created_at, message=message)

    def started(self, call: ToolCall, round: int, at: int) -> None:
        """A tool runs."""
        self._add(ToolCallStarted, at, round=round, tool_call=call)

    def asked(self, call: ToolCall, at: int) -> None:
        """A call needs a confirmation."""
        self._add(ConfirmationRequested, at, tool_call=call)

    def finished(self, result: Draft, round: int, at: int) -> None:
        """A call has its result."""
        self._add(
            ToolCallFinished,
            at,
            round=round,
            tool_call_id=result.tool_call_id,
            is_error=result.is_error,
            content=result.content,
            duration_ms=result.duration_ms or 0,
        )

    def catch_up(self, stored: "EventLog") -> None:
        """Takes what the stored turn has and this log has not yet."""
        self.events += [event for event in stored.events if event.seq > self._seq]
        self._seq = max(self._seq, stored._seq)

    def ended(self, turn: Turn) -> None:
        """The turn is over."""
        self._add(TurnEnded, turn.started_at if turn.ended_at is None else turn.ended_at, turn=turn)

    def _add(self, kind: type[E], at: int, length: int = 1, **fields: Any) -> None:
        self._seq += length
        self.events.append(kind(turn_id=self._turn_id, seq=self._seq, at=at, **fields))


def replay(turn: Turn, messages: Sequence[Message]) -> EventLog:
    """The events of a stored turn so far; `messages` are what it wrote, in order.

    Messages that were stored after `turn` was read are left out: its partial text is of before them.
    """
    log = EventLog(turn)
    known = [message for message in messages if message.seq <= turn.last_seq]
    round = 0
    for index, message in enumerate(known):
        if message.role is MessageRole.ASSISTANT and message.content:
            log.text(message.content, round, message.created_at)
        log.stored(message)
        if message.role is MessageRole.ASSISTANT:
            if message.tool_calls:
                _round(log, turn, message, known[index + 1 :], round)
            round += 1
    if not turn.is_open:
        log.ended(turn)
    elif not is_blank(partial := partial_of(turn, known)):
        log.text(partial, turn.partial_round, turn.started_at)
    return log


def partial_of(turn: Turn, written: Sequence[Message]) -> str:
    """The stored text of the reply that is being written.

    A renewal that came late may have left that of a reply which is among the messages already.
    """
    replies = sum(message.role is MessageRole.ASSISTANT for message in written)
    return turn.partial if turn.partial_round == replies else ""


def _round(log: EventLog, turn: Turn, said: Message, later: Sequence[Message], round: int) -> None:
    """What the tools of one round did, as far as it is stored."""
    calls = said.tool_calls[: len(later)] if later else ()
    results: dict[str, Draft] = {call.id: result for call, result in zip(calls, later, strict=False)}
    if not later and turn.is_open:
        results = {str(draft.tool_call_id): draft for draft in turn.held_results}
    free = [call for call in said.tool_calls if call.id not in turn.confirm_ids]
    asked = [call for call in said.tool_calls if call.id in turn.confirm_ids]
    answered = {*turn.approved_ids, *turn.refused_ids}
    at = said.created_at
    if said.state is MessageState.COMPLETE:
        for call in free:
            log.started(call, round, at)
    for call in asked:
        log.asked(call, at)
    _finish(log, free, results, round, at)
    if later or (all(call.id in answered for call in asked) and all(call.id in results for call in free)):
        for call in asked:
            if call.id in turn.approved_ids:
                log.started(call, round, at)
    _finish(log, asked, results, round, at)


def _finish(
    log: EventLog, calls: Sequence[ToolCall], results: Mapping[str, Draft], round: int, at: int
) -> None:
    for call in calls:
        if call.id not in results:
            return
        log.finished(results[call.id], round, results[call.id].created_at or at)


def after(events: Sequence[TurnEvent], seq: int, told: Set[str]) -> Iterator[TurnEvent]:
    """The events that a follower is still to be told who has seen all up to number `seq`.

    Of an ended turn what was stored is always told: after a crash a follower may have seen more
    text than was stored.

    Args:
        told: ids of the messages that this follower was told of.
    """
    has_ended = bool(events) and isinstance(events[-1], TurnEnded)
    for event in events:
        match event:
            case TextDelta():
                rest = event.seq - seq
                if rest > 0:
                    yield event.model_copy(update={"text": event.text[-rest:]})
            case MessageStored():
                if event.message.id not in told and (has_ended or event.seq > seq):
                    yield event
            case TurnEnded():
                yield event
            case _ if event.seq > seq:
                yield event
