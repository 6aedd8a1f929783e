"""A turn: from one user message to the end of the reply."""

from enum import StrEnum

from stello_graph.errors import ErrorCode
from stello_graph.model.message import Message, ToolCall
from stello_graph.model.values import Usage, Value

__all__ = [
    "MessageStored",
    "StopReason",
    "TextDelta",
    "Turn",
    "TurnEnded",
    "TurnError",
    "TurnEvent",
    "TurnStarted",
    "TurnStatus",
]


class TurnStatus(StrEnum):
    """RUNNING and AWAITING_CONFIRMATION hold the session; the others are final."""

    RUNNING = "RUNNING"
    AWAITING_CONFIRMATION = "AWAITING_CONFIRMATION"
    COMPLETED = "COMPLETED"
    CANCELLED = "CANCELLED"
    FAILED = "FAILED"


class StopReason(StrEnum):
    """Why a turn ended."""

    END_TURN = "END_TURN"
    MAX_TOKENS = "MAX_TOKENS"
    MAX_TOOL_ROUNDS = "MAX_TOOL_ROUNDS"
    REFUSAL = "REFUSAL"
    CANCELLED = "CANCELLED"
    ERROR = "ERROR"
    INTERRUPTED = "INTERRUPTED"


class TurnError(Value):
    """Why a turn failed."""

    code: ErrorCode
    message: str
    retryable: bool


class Turn(Value):
    """One turn. Times are UTC microseconds.

    Attributes:
        first_seq: place of its user message.
        last_seq: place of the last message that it stored so far.
        fence: grows each time somebody takes the turn's lease; writes carry it.
        partial: text of the reply that is being written, as far as it is stored.
        partial_round: the round that `partial` belongs to.
    """

    id: str
    session_id: str
    status: TurnStatus
    stop_reason: StopReason | None = None
    tool_rounds: int = 0
    pending_tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    error: TurnError | None = None
    first_seq: int
    last_seq: int
    fence: int
    number: int
    partial: str = ""
    partial_round: int = 0
    cancel_requested: bool = False
    started_at: int
    ended_at: int | None = None

    @property
    def is_open(self) -> bool:
        """Whether the turn still holds its session."""
        return self.status in (TurnStatus.RUNNING, TurnStatus.AWAITING_CONFIRMATION)


class TurnEvent(Value):
    """Something that a turn emitted. `seq` counts one an event and one a character of text."""

    turn_id: str
    seq: int
    at: int


class TurnStarted(TurnEvent):
    """The turn holds its session. `turn` as it was when it began."""

    turn: Turn


class TextDelta(TurnEvent):
    """Some text of the reply. `seq` is that of its last character."""

    round: int
    text: str


class MessageStored(TurnEvent):
    """A message is part of the transcript now."""

    message: Message


class TurnEnded(TurnEvent):
    """Always the last."""

    turn: Turn
