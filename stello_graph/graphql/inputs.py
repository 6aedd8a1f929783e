"""The inputs of mutations. UNSET is "not given"."""

import strawberry
from strawberry import ID, UNSET

from stello_graph.graphql.enums import (
    ForkContext,
    MessageRole,
    PromptMode,
    SessionRole,
    TopologyStrategy,
    Trigger,
    WhenBusy,
)
from stello_graph.graphql.scalars import JSON

__all__ = [
    "CreateSessionInput",
    "ForkInput",
    "ForkProfileInput",
    "InsightInput",
    "MessageInput",
    "SendInput",
    "SpaceConfigInput",
    "UpdateSessionInput",
]


@strawberry.input
class SessionOverridesInput:
    """See `model.session.SessionOverrides`."""

    model: str | None = UNSET
    consolidate_prompt: str | None = UNSET
    integrate_prompt: str | None = UNSET
    compress_prompt: str | None = UNSET
    role_context: str | None = UNSET


@strawberry.input
class CreateSessionInput:
    """See `model.requests.CreateSession`."""

    id: ID | None = strawberry.field(
        default=UNSET,
        description="Optional id of the caller's own, 1 to 128 of [A-Za-z0-9._:-]; CONFLICT where it is taken.",
    )
    parent_id: ID | None = UNSET
    label: str | None = strawberry.field(
        default=UNSET, description="Default: Root for a root, Session otherwise."
    )
    role: SessionRole | None = SessionRole.STANDARD
    strategy: TopologyStrategy | None = strawberry.field(
        default=UNSET, description="Of the whole tree: only a root takes one."
    )
    system_prompt: str | None = UNSET
    skills: list[str] | None = UNSET
    tags: list[str] | None = UNSET
    metadata: JSON | None = UNSET
    overrides: SessionOverridesInput | None = UNSET
    idempotency_key: str | None = strawberry.field(
        default=UNSET,
        description="Same key and same input: the first result again, nothing done. Same key, other input: CONFLICT.",
    )


@strawberry.input
class ForkInput:
    """See `model.requests.Fork`."""

    source_session_id: ID
    parent_id: ID | None = strawberry.field(
        default=UNSET, description="Where it hangs. Default: by the tree's strategy."
    )
    id: ID | None = UNSET
    label: str
    through_seq: int | None = strawberry.field(
        default=UNSET,
        description="Context is taken up to this message of the source, inclusive. Default: its last whole tool group "
        "or message, a running turn's open group left out. Cutting a tool group in two is INVALID_INPUT.",
    )
    context: ForkContext | None = strawberry.field(
        default=UNSET, description="Default: the profile's, else NONE."
    )
    profile: str | None = UNSET
    vars: JSON | None = strawberry.field(
        default=UNSET, description="Variables of the profile's prompt template."
    )
    system_prompt: str | None = UNSET
    system_prompt_mode: PromptMode | None = UNSET
    skills: list[str] | None = strawberry.field(
        default=UNSET, description="Not given: inherited. null: all. []: none."
    )
    prompt: str | None = strawberry.field(
        default=UNSET,
        description="Opening words, stored as the child's first own message, by the assistant.",
    )
    tags: list[str] | None = UNSET
    metadata: JSON | None = UNSET
    idempotency_key: str | None = UNSET


@strawberry.input
class ForkProfileInput:
    """See `model.profile.ForkProfile`."""

    name: str
    system_prompt: str | None = strawberry.field(
        default=UNSET,
        description="A template over the fork's vars: ${name} is a variable, $$ is a dollar. So is prompt.",
    )
    system_prompt_mode: PromptMode | None = PromptMode.PREPEND
    skills: list[str] | None = strawberry.field(default=UNSET, description="null: not set. []: none.")
    context: ForkContext | None = UNSET
    prompt: str | None = UNSET


@strawberry.input
class SendInput:
    """See `model.requests.Send`."""

    session_id: ID
    content: str
    when_busy: WhenBusy | None = strawberry.field(
        default=WhenBusy.QUEUE,
        description="QUEUE waits for the running turn, up to queueTimeoutMs; REJECT is SESSION_BUSY at once; "
        "INTERRUPT cancels the running turn first.",
    )
    queue_timeout_ms: int | None = 60000
    max_tool_rounds: int | None = UNSET
    idempotency_key: str | None = strawberry.field(
        default=UNSET,
        description="Same key, same session and content: the same turn, joined or replayed. Other content: CONFLICT.",
    )


@strawberry.input
class ToolCallInput:
    """See `model.message.ToolCall`."""

    id: str
    name: str
    arguments: JSON


@strawberry.input
class MessageInput:
    """See `model.requests.AppendedMessage`."""

    role: MessageRole
    content: str
    parts: JSON | None = UNSET
    tool_calls: list[ToolCallInput] | None = UNSET
    tool_call_id: str | None = UNSET
    tool_name: str | None = UNSET
    is_error: bool | None = False


@strawberry.input
class InsightInput:
    """See `model.memory.InsightDraft`."""

    session_id: ID
    content: str
    source_session_id: ID | None = UNSET


@strawberry.input(description="Not given leaves a field; null clears it where it can be null.")
class UpdateSessionInput:
    """See `model.requests.UpdateSession`."""

    label: str | None = UNSET
    system_prompt: str | None = UNSET
    skills: list[str] | None = UNSET
    tags: list[str] | None = UNSET
    metadata: JSON | None = UNSET
    overrides: SessionOverridesInput | None = UNSET


@strawberry.input
class SplitGuardInput:
    """See `model.space.SplitGuard`."""

    for_tools: bool | None = UNSET
    for_api: bool | None = UNSET
    min_turns: int | None = UNSET
    cooldown_turns: int | None = UNSET


@strawberry.input
class SpaceConfigInput:
    """See `model.requests.SpaceChanges`."""

    name: str | None = UNSET
    strategy: TopologyStrategy | None = UNSET
    system_prompt: str | None = UNSET
    model: str | None = UNSET
    consolidate_model: str | None = UNSET
    integrate_model: str | None = UNSET
    compress_model: str | None = UNSET
    shared_memory: bool | None = UNSET
    max_context_tokens: int | None = UNSET
    max_output_tokens: int | None = UNSET
    max_tool_rounds: int | None = UNSET
    consolidate_prompt: str | None = UNSET
    integrate_prompt: str | None = UNSET
    compress_prompt: str | None = UNSET
    role_context: str | None = UNSET
    consolidate_on: list[Trigger] | None = UNSET
    integrate_on: list[Trigger] | None = UNSET
    every_n_turns: int | None = UNSET
    split_guard: SplitGuardInput | None = UNSET
