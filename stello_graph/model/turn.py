"""A turn: from one user message to the end of the reply."""

from enum import StrEnum

from stello_graph.errors import ErrorCode
from stello_graph.model.message import Draft, Message, ToolCall
from stello_graph.model.values import Usage, Value

__all__ = [
    "ConfirmationRequested",
    "MessageStored",
    "StopReason",
    "TextDelta",
    "ToolCallFinished",
    "ToolCallStarted",
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
        max_tool_rounds: the caller's limit; None takes the Space's.
        pending_tool_calls: calls that wait for a confirmation.
        confirm_ids: ids of all calls of this turn that needed a confirmation.
        refusals: why, for each of `refused_ids`.
        held_results: results of the current round that wait with the turn for the rest.
        usage: of its model calls so far; session and Space know of it once the turn has ended.
        insight: what was pinned when it began.
        fence: grows each time somebody takes the turn's lease; writes carry it.
        partial: text of the reply that is being written, as far as it is stored.
        partial_round: the round that `partial` belongs to.
    """

    id: str
    session_id: str
    status: TurnStatus
    stop_reason: StopReason | None = None
    tool_rounds: int = 0
    max_tool_rounds: int | None = None
    pending_tool_calls: tuple[ToolCall, ...] = ()
    confirm_ids: tuple[str, ...] = ()
    approved_ids: tuple[str, ...] = ()
    refused_ids: tuple[str, ...] = ()
    refusals: tuple[str, ...] = ()
    held_results: tuple[Draft, ...] = ()
    usage: Usage = Usage()
    error: TurnError | None = None
    first_seq: int
    last_seq: int
    fence: int
    number: int
    insight: str | None = None
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


class ToolCallStarted(TurnEvent):
    """A tool runs."""

    round: int
    tool_call: ToolCall


class ToolCallFinished(TurnEvent):
    """A call has its result, told in the order of the calls. `content` is the result's text."""

    round: int
    tool_call_id: str
    is_error: bool
    content: str
    duration_ms: int


class ConfirmationRequested(TurnEvent):
    """A call runs only once somebody approves it."""

    tool_call: ToolCall


class MessageStored(TurnEvent):
    """A message is part of the transcript now."""

    message: Message


class TurnEnded(TurnEvent):
    """Always the last."""

    turn: Turn
