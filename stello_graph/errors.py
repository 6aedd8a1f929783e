"""The errors of stello-graph, each with its code.

StelloError
  Unauthenticated      UNAUTHENTICATED     no valid key
  Forbidden            FORBIDDEN           the key's scope is too small
  NotFound             NOT_FOUND           no such thing in this Space
  InvalidInput         INVALID_INPUT       the input itself is wrong
  Conflict             CONFLICT            taken id, changed revision, reused idempotency key
  SessionArchived      SESSION_ARCHIVED    the session is archived
  SessionBusy          SESSION_BUSY        a turn holds the session
  ForkRefused          FORK_REFUSED        the source gives no context
  TurnHasEnded         TURN_ENDED          the turn is over
  LimitExceeded        LIMIT_EXCEEDED      too much at once
  ModelError
    ModelUnavailable   LLM_UNAVAILABLE     the model does not answer
    ModelRateLimited   LLM_RATE_LIMITED    the model asks to slow down
    ModelRefused       LLM_REFUSED         the model refuses the request
    ContextTooLong     CONTEXT_TOO_LONG    the request is beyond the model's window
  StoreUnavailable     STORE_UNAVAILABLE   the database is away
  InternalError        INTERNAL            anything else; its text never leaves the server
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, ClassVar

__all__ = [
    "Conflict",
    "ContextTooLong",
    "ErrorCode",
    "Forbidden",
    "ForkRefused",
    "InternalError",
    "InvalidInput",
    "LimitExceeded",
    "ModelError",
    "ModelRateLimited",
    "ModelRefused",
    "ModelUnavailable",
    "NotFound",
    "SessionArchived",
    "SessionBusy",
    "StelloError",
    "StoreUnavailable",
    "TurnHasEnded",
    "Unauthenticated",
]


class ErrorCode(StrEnum):
    """The codes that a caller can meet, in `extensions.code` of a GraphQL error."""

    UNAUTHENTICATED = "UNAUTHENTICATED"
    FORBIDDEN = "FORBIDDEN"
    NOT_FOUND = "NOT_FOUND"
    INVALID_INPUT = "INVALID_INPUT"
    CONFLICT = "CONFLICT"
    SESSION_ARCHIVED = "SESSION_ARCHIVED"
    SESSION_BUSY = "SESSION_BUSY"
    FORK_REFUSED = "FORK_REFUSED"
    TURN_ENDED = "TURN_ENDED"
    LIMIT_EXCEEDED = "LIMIT_EXCEEDED"
    LLM_UNAVAILABLE = "LLM_UNAVAILABLE"
    LLM_RATE_LIMITED = "LLM_RATE_LIMITED"
    LLM_REFUSED = "LLM_REFUSED"
    CONTEXT_TOO_LONG = "CONTEXT_TOO_LONG"
    STORE_UNAVAILABLE = "STORE_UNAVAILABLE"
    INTERNAL = "INTERNAL"


class StelloError(Exception):
    """Root of all errors that a caller may see.

    Attributes:
        code: what a program decides by.
        retryable: whether the same call may succeed later.
        details: further facts for `extensions`, such as `turnId` or `count`.
    """

    code: ClassVar[ErrorCode] = ErrorCode.INTERNAL
    retryable: ClassVar[bool] = False

    def __init__(self, message: str, **details: Any) -> None:
        super().__init__(message)
        self.message = message
        self.details: Mapping[str, Any] = details


class Unauthenticated(StelloError):
    """No valid key came with the request."""

    code = ErrorCode.UNAUTHENTICATED


class Forbidden(StelloError):
    """The caller's scope does not reach that far."""

    code = ErrorCode.FORBIDDEN


class NotFound(StelloError):
    """There is no such thing in this Space."""

    code = ErrorCode.NOT_FOUND

    @classmethod
    def of(cls, kind: str, id: str) -> "NotFound":
        """The usual sentence: `there is no session "x"`."""
        return cls(f'there is no {kind} "{id}"')


class InvalidInput(StelloError):
    """The input is wrong, whatever is stored."""

    code = ErrorCode.INVALID_INPUT


class Conflict(StelloError):
    """The input does not fit what is stored."""

    code = ErrorCode.CONFLICT


class SessionArchived(StelloError):
    """The session is archived: it takes no writes, no forks and no turns."""

    code = ErrorCode.SESSION_ARCHIVED

    @classmethod
    def of(cls, id: str) -> "SessionArchived":
        """The usual sentence about session `id`."""
        return cls(f'session "{id}" is archived; unarchive it first')


class SessionBusy(StelloError):
    """A turn holds the session; `details["turnId"]` says which."""

    code = ErrorCode.SESSION_BUSY
    retryable = True

    @classmethod
    def of(cls, id: str, turn_id: str) -> "SessionBusy":
        """The usual sentence about session `id` and the turn that holds it."""
        return cls(f'session "{id}" is busy with turn "{turn_id}"', turnId=turn_id)


class ForkRefused(StelloError):
    """The source does not give what the fork asks for."""

    code = ErrorCode.FORK_REFUSED

    @classmethod
    def too_early(cls, id: str, missing: int) -> "ForkRefused":
        """The usual sentence about source `id` that has so many turns too few."""
        turns = "1 more completed turn" if missing == 1 else f"{missing} more completed turns"
        return cls(f'session "{id}" needs {turns} before it is forked', missingTurns=missing)


class TurnHasEnded(StelloError):
    """The turn is over and cannot take this any more."""

    code = ErrorCode.TURN_ENDED


class LimitExceeded(StelloError):
    """More than the server does at once."""

    code = ErrorCode.LIMIT_EXCEEDED


class ModelError(StelloError):
    """The model did not do its part."""

    code = ErrorCode.LLM_UNAVAILABLE


class ModelUnavailable(ModelError):
    """The model does not answer, or broke off."""

    code = ErrorCode.LLM_UNAVAILABLE
    retryable = True


class ModelRateLimited(ModelError):
    """The provider asks to slow down."""

    code = ErrorCode.LLM_RATE_LIMITED
    retryable = True


class ModelRefused(ModelError):
    """The provider refuses this request: wrong key, unknown model, illegal request."""

    code = ErrorCode.LLM_REFUSED


class ContextTooLong(ModelError):
    """The request is longer than the model's window."""

    code = ErrorCode.CONTEXT_TOO_LONG


class StoreUnavailable(StelloError):
    """The database is away, or could not finish; nothing was acknowledged."""

    code = ErrorCode.STORE_UNAVAILABLE
    retryable = True


class InternalError(StelloError):
    """A fault of ours. The log has the rest under the id that the message names."""

    code = ErrorCode.INTERNAL
