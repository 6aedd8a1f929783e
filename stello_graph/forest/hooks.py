"""What an application may hear of, fire-and-forget: no hook delays a turn or makes it fail."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, TypeAlias, TypeVar

from stello_graph.model.message import Draft, ToolCall

__all__ = [
    "ArchiveEvent",
    "EnterEvent",
    "ErrorEvent",
    "ForkEvent",
    "HookEvent",
    "HookName",
    "Hooks",
    "HooksProvider",
    "LeaveEvent",
    "MessageEvent",
    "RoundEvent",
    "ToolCallEvent",
    "ToolResultEvent",
]

HookName: TypeAlias = Literal[
    "on_message_received",
    "on_assistant_reply",
    "on_tool_call",
    "on_tool_result",
    "on_session_enter",
    "on_session_leave",
    "on_round_start",
    "on_round_end",
    "on_session_archive",
    "on_session_fork",
    "on_error",
]


@dataclass(frozen=True, slots=True)
class HookEvent:
    """What all events tell: where they happened."""

    space_id: str
    session_id: str


@dataclass(frozen=True, slots=True)
class MessageEvent(HookEvent):
    """A user's message was stored, or a reply of the assistant."""

    turn_id: str
    message: Draft


@dataclass(frozen=True, slots=True)
class ToolCallEvent(HookEvent):
    """The model calls a tool, which is about to run."""

    turn_id: str
    call: ToolCall


@dataclass(frozen=True, slots=True)
class ToolResultEvent(HookEvent):
    """A tool has answered, or failed: `message.is_error`."""

    turn_id: str
    call: ToolCall
    message: Draft


@dataclass(frozen=True, slots=True)
class RoundEvent(HookEvent):
    """The model is asked, or has answered and its tools have run. `round` counts from 0 in each turn."""

    turn_id: str
    round: int


@dataclass(frozen=True, slots=True)
class EnterEvent(HookEvent):
    """A holder (a tab, a device) entered the session."""

    holder: str


@dataclass(frozen=True, slots=True)
class LeaveEvent(HookEvent):
    """A holder left the session, of its own or for `entered_id`."""

    holder: str
    entered_id: str | None = None


@dataclass(frozen=True, slots=True)
class ArchiveEvent(HookEvent):
    """The session was archived."""


@dataclass(frozen=True, slots=True)
class ForkEvent(HookEvent):
    """The session was forked: `session_id` is the fork."""

    source_session_id: str


@dataclass(frozen=True, slots=True)
class ErrorEvent:
    """Something failed.

    Attributes:
        source: what failed: "hook", "turn", "consolidate" and the like.
        session_id: None where it belongs to none.
        hook: the name of the hook that failed.
        function: module and name of the function that failed, where that is known.
    """

    space_id: str
    session_id: str | None
    turn_id: str | None
    source: str
    error: BaseException
    hook: HookName | None = None
    function: str | None = None


E = TypeVar("E")

Hook: TypeAlias = Callable[[E], Awaitable[object] | object]


@dataclass(frozen=True, kw_only=True, slots=True)
class Hooks:
    """Functions that are told of events, each a plain or an async one, each given one event.

    Plain ones run in a thread of their own, one after the other in the order of the events: they may
    block, but while one does the next ones wait. Async ones start in the order of the events and run
    side by side. What they return is dropped. What they raise is logged and told to `on_error`; what
    `on_error` raises is logged.
    """

    on_message_received: Hook[MessageEvent] | None = None
    on_assistant_reply: Hook[MessageEvent] | None = None
    on_tool_call: Hook[ToolCallEvent] | None = None
    on_tool_result: Hook[ToolResultEvent] | None = None
    on_session_enter: Hook[EnterEvent] | None = None
    on_session_leave: Hook[LeaveEvent] | None = None
    on_round_start: Hook[RoundEvent] | None = None
    on_round_end: Hook[RoundEvent] | None = None
    on_session_archive: Hook[ArchiveEvent] | None = None
    on_session_fork: Hook[ForkEvent] | None = None
    on_error: Hook[ErrorEvent] | None = None

    def __post_init__(self) -> None:
        for field in fields(self):
            hook = getattr(self, field.name)
            if hook is not None and not callable(hook):
                raise TypeError(f"{field.name} must be a function, not {type(hook).__name__}")

    def named(self, name: HookName) -> Hook[Any] | None:
        """The hook of that name."""
        hook: Hook[Any] | None = getattr(self, name)
        return hook


HooksProvider: TypeAlias = Hooks | Callable[[str, str], Hooks]
"""The hooks, or a quick function from Space and session to them, asked anew for each event."""


def providers(hooks: HooksProvider | Sequence[HooksProvider]) -> tuple[HooksProvider, ...]:
    """All that an application passed, as a tuple."""
    return tuple(hooks) if isinstance(hooks, Sequence) else (hooks,)
