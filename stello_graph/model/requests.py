"""What a caller asks for, as given. `model_fields_set` tells "not given" from None."""

from enum import StrEnum
from typing import Any

from stello_graph.model.message import MessageRole, ToolCall
from stello_graph.model.session import SessionOverrides
from stello_graph.model.space import Trigger
from stello_graph.model.values import ForkContext, PromptMode, SessionRole, TopologyStrategy, Value

__all__ = [
    "AppendedMessage",
    "CreateSession",
    "Fork",
    "Send",
    "SpaceChanges",
    "UpdateSession",
    "WhenBusy",
]


class WhenBusy(StrEnum):
    """What to do where a turn holds the session already."""

    QUEUE = "QUEUE"
    REJECT = "REJECT"
    INTERRUPT = "INTERRUPT"


class CreateSession(Value):
    """A root, or an empty child of `parent_id`."""

    id: str | None = None
    parent_id: str | None = None
    label: str | None = None
    role: SessionRole = SessionRole.STANDARD
    strategy: TopologyStrategy | None = None
    system_prompt: str | None = None
    skills: tuple[str, ...] | None = None
    tags: tuple[str, ...] = ()
    metadata: Any = None
    overrides: SessionOverrides = SessionOverrides()
    idempotency_key: str | None = None


class Fork(Value):
    """A child of `source_session_id` or, where given, of `parent_id`."""

    source_session_id: str
    parent_id: str | None = None
    id: str | None = None
    label: str
    through_seq: int | None = None
    context: ForkContext | None = None
    profile: str | None = None
    vars: Any = None
    system_prompt: str | None = None
    system_prompt_mode: PromptMode | None = None
    skills: tuple[str, ...] | None = None
    prompt: str | None = None
    tags: tuple[str, ...] = ()
    metadata: Any = None
    idempotency_key: str | None = None


class Send(Value):
    """One user message, and how to wait for its turn."""

    session_id: str
    content: str
    when_busy: WhenBusy = WhenBusy.QUEUE
    queue_timeout_ms: int = 60_000
    max_tool_rounds: int | None = None
    idempotency_key: str | None = None


class UpdateSession(Value):
    """Only the fields that are given change; None clears."""

    label: str | None = None
    system_prompt: str | None = None
    skills: tuple[str, ...] | None = None
    tags: tuple[str, ...] | None = None
    metadata: Any = None
    overrides: SessionOverrides | None = None


class AppendedMessage(Value):
    """A message to store as it is."""

    role: MessageRole
    content: str
    parts: Any = None
    tool_calls: tuple[ToolCall, ...] = ()
    tool_call_id: str | None = None
    tool_name: str | None = None
    is_error: bool = False


class SpaceChanges(Value):
    """Settings of a Space that change: only those that are given."""

    name: str | None = None
    strategy: TopologyStrategy | None = None
    system_prompt: str | None = None
    model: str | None = None
    consolidate_model: str | None = None
    integrate_model: str | None = None
    compress_model: str | None = None
    shared_memory: bool | None = None
    max_context_tokens: int | None = None
    max_output_tokens: int | None = None
    max_tool_rounds: int | None = None
    consolidate_prompt: str | None = None
    integrate_prompt: str | None = None
    compress_prompt: str | None = None
    role_context: str | None = None
    consolidate_on: tuple[Trigger, ...] | None = None
    integrate_on: tuple[Trigger, ...] | None = None
    every_n_turns: int | None = None
    split_guard: dict[str, Any] | None = None
