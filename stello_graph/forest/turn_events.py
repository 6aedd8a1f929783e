"""What a turn emits, numbered so that any process can replay it from what is stored.

The numbers follow from the stored turn alone: one for each event, and one for each character of
text (code points; a delta carries the number of its last character).
"""

from collections.abc import Iterator, Sequence, Set

from stello_graph.model.message import Message, MessageRole
from stello_graph.model.turn import (
    MessageStored,
    TextDelta,
    Turn,
    TurnEnded,
    TurnEvent,
    TurnStarted,
    TurnStatus,
)

__all__ = ["EventLog", "after", "replay"]


class EventLog:
    """Numbers the events of one turn as they happen."""

    def __init__(self, turn: Turn) -> None:
        self.events: list[TurnEvent] = []
        self._turn_id = turn.id
        self._seq = 1
        started = turn.model_copy(
            update={"status": TurnStatus.RUNNING, "stop_reason": None, "ended_at": None}
        )
        self.events.append(TurnStarted(turn_id=turn.id, seq=1, at=turn.started_at, turn=started))

    def text(self, text: str, round: int, at: int) -> None:
        """Some text of the reply."""
        self._seq += len(text)
        self.events.append(TextDelta(turn_id=self._turn_id, seq=self._seq, at=at, round=round, text=text))

    def stored(self, message: Message) -> None:
        """A message was stored."""
        self._seq += 1
        self.events.append(
            MessageStored(turn_id=self._turn_id, seq=self._seq, at=message.created_at, message=message)
        )

    def ended(self, turn: Turn) -> None:
        """The turn is over."""
        self._seq += 1
        at = turn.started_at if turn.ended_at is None else turn.ended_at
        self.events.append(TurnEnded(turn_id=self._turn_id, seq=self._seq, at=at, turn=turn))


def replay(turn: Turn, messages: Sequence[Message]) -> list[TurnEvent]:
    """The events of a stored turn so far; `messages` are what it wrote, in order.

    Messages that were stored after `turn` was read are left out: its partial text is of before them.
    """
    log = EventLog(turn)
    round = 0
    for message in messages:
        if message.seq > turn.last_seq:
            break
        if message.role is MessageRole.ASSISTANT:
            if message.content:
                log.text(message.content, round, message.created_at)
            round += 1
        log.stored(message)
    if turn.is_open:
        if turn.partial:
            log.text(turn.partial, turn.partial_round, turn.started_at)
    else:
        log.ended(turn)
    return log.events


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
