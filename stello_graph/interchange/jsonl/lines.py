"""What is written: a line of JSON for each thing, fields by name, what has its default value left out."""

from enum import StrEnum
from typing import Any, Final

import orjson

from stello_graph.errors import ErrorCode
from stello_graph.model.copies import MessageCopy, SessionCopy
from stello_graph.model.knowledge import Record, SharedMemory, Skill
from stello_graph.model.profile import ForkProfile
from stello_graph.model.space import Space
from stello_graph.model.turn import StopReason, Turn, TurnError, TurnStatus
from stello_graph.model.values import Value

__all__ = [
    "FORMAT",
    "VERSION",
    "Kind",
    "beside_line",
    "header_line",
    "interrupted",
    "message_line",
    "session_line",
    "shared_line",
    "space_line",
    "turn_line",
]

FORMAT: Final = "stello-graph"
VERSION: Final = 1

# What is told otherwise, can be derived, or has a meaning in one store only.
_NOT_OF_A_SESSION: Final[dict[str, Any]] = {
    "event_seq": True,
    "insight": {"revision"},
    "integrated_seq": True,
    "last_turn_number": True,
    "message_count": True,
    "open_turn_id": True,
    "root_id": True,
}
_NOT_OF_A_TURN: Final = {
    "cancel_requested",
    "fence",
    "held_results",
    "partial",
    "partial_round",
    "pending_tool_calls",
    "session_id",
}
_CLOSED: Final = TurnError(
    code=ErrorCode.INTERNAL, message="the turn was not over when it was exported", retryable=True
)


class Kind(StrEnum):
    """What a line tells of, by its `kind`."""

    SPACE = "space"
    RECORD = "record"
    SHARED_MEMORY = "sharedMemory"
    SKILL = "skill"
    PROFILE = "profile"
    SESSION = "session"
    TURN = "turn"
    MESSAGE = "message"


def header_line() -> bytes:
    """The first line."""
    return _dumped({"format": FORMAT, "version": VERSION})


def space_line(space: Space) -> bytes:
    """Name, settings, usage and age. All settings are told that are set, since defaults may change."""
    return _line(
        Kind.SPACE,
        {
            "name": space.name,
            "config": space.config.model_dump(mode="json", by_alias=True, exclude_none=True),
            "usage": _fields(space.usage),
            "createdAt": space.created_at,
        },
    )


def beside_line(one: Record | SharedMemory | Skill | ForkProfile) -> bytes:
    """What belongs to no session."""
    kinds = {
        Record: Kind.RECORD,
        SharedMemory: Kind.SHARED_MEMORY,
        Skill: Kind.SKILL,
        ForkProfile: Kind.PROFILE,
    }
    return _line(kinds[type(one)], _fields(one))


def session_line(copy: SessionCopy) -> bytes:
    """A session without its turns and messages."""
    return _line(
        Kind.SESSION,
        copy.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude=_NOT_OF_A_SESSION),
    )


def turn_line(turn: Turn) -> bytes:
    """A turn that is over."""
    return _line(Kind.TURN, _fields(turn, _NOT_OF_A_TURN) | {"session": turn.session_id})


def message_line(session_id: str, message: MessageCopy) -> bytes:
    """A message in the transcript of a session."""
    told = _fields(message, {"is_shared", "session_id"}) | {"session": session_id}
    if message.session_id != session_id:
        told["writtenIn"] = message.session_id
    return _line(Kind.MESSAGE, told)


def shared_line(session_id: str, message: MessageCopy, teller: str) -> bytes:
    """A message that is told in full in the transcript of another session."""
    told = {"id": message.id, "seq": message.seq, "session": session_id, "sharedWith": teller}
    return _line(Kind.MESSAGE, told)


def interrupted(turn: Turn, ended_at: int) -> Turn:
    """A turn that is not over, as it is when nobody goes on with it."""
    return turn.model_copy(
        update={
            "status": TurnStatus.FAILED,
            "stop_reason": StopReason.INTERRUPTED,
            "error": _CLOSED,
            "ended_at": max(turn.started_at, ended_at),
        }
    )


def _fields(value: Value, without: set[str] | None = None) -> dict[str, Any]:
    return value.model_dump(mode="json", by_alias=True, exclude_defaults=True, exclude=without)


def _line(kind: Kind, fields: dict[str, Any]) -> bytes:
    return _dumped({"kind": kind, **fields})


def _dumped(fields: dict[str, Any]) -> bytes:
    """The fields by name. Inside of them the order stays: a model sees the arguments of its calls again."""
    return orjson.dumps(dict(sorted(fields.items())), option=orjson.OPT_APPEND_NEWLINE)
