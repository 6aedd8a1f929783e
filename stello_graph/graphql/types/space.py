"""Spaces and what the model would see, as the schema shows them."""

import strawberry

from stello_graph.graphql.context import Info
from stello_graph.graphql.enums import ContextOrigin, KeyScope, TopologyStrategy, Trigger
from stello_graph.graphql.scalars import JSON, DateTime
from stello_graph.graphql.types.common import ToolCall, Usage
from stello_graph.model import space as model

__all__ = ["ContextPreview", "Space", "Tool", "Viewer"]

_DEFAULT_WINDOW = 200_000

Config = strawberry.Parent[model.SpaceConfig]


def model_name(config: Config, info: Info) -> str:
    """The Space's, else the server's."""
    return config.model or info.context.graph.llm.default_model


def max_context_tokens(config: Config, info: Info) -> int:
    """The Space's, else the known model's, else 200,000."""
    window = info.context.graph.llm.window(model_name(config, info))
    return config.max_context_tokens or window or _DEFAULT_WINDOW


@strawberry.type(description="Who asks.")
class Viewer:
    """See `model.values.Viewer`."""

    space_id: strawberry.ID | None
    key_name: str | None
    scope: KeyScope


@strawberry.type(
    description="A session may be forked from once it has minTurns turns, then again after cooldownTurns more. "
    "forTools: forks by the model; forApi: by the fork mutation."
)
class SplitGuard:
    """See `model.space.SplitGuard`."""

    for_tools: bool
    for_api: bool
    min_turns: int
    cooldown_turns: int


@strawberry.type
class SpaceConfig:
    """See `model.space.SpaceConfig`."""

    strategy: TopologyStrategy | None
    system_prompt: str | None
    model = strawberry.field(resolver=model_name, graphql_type=str)
    consolidate_model: str | None = strawberry.field(description="null: model.")
    integrate_model: str | None
    compress_model: str | None
    shared_memory: bool = strawberry.field(
        description="Off by default: it is a direct channel between sessions, which otherwise hear of each other "
        "through digests and insights only."
    )
    max_context_tokens = strawberry.field(resolver=max_context_tokens, graphql_type=int)
    max_output_tokens: int
    max_tool_rounds: int
    consolidate_prompt: str | None
    integrate_prompt: str | None
    compress_prompt: str | None
    role_context: str | None
    consolidate_on: list[Trigger]
    integrate_on: list[Trigger]
    every_n_turns: int
    split_guard: SplitGuard


@strawberry.type(description="One tenant: an isolated forest with its own configuration.")
class Space:
    """See `model.space.Space`."""

    id: strawberry.ID
    name: str
    config: SpaceConfig
    usage: Usage
    session_count: int
    created_at: DateTime


@strawberry.type(description="A tool that the server can run for the model.")
class Tool:
    """See `model.context.ToolSpec`."""

    name: str
    description: str
    input_schema: JSON
    needs_confirmation: bool
    annotations: JSON = strawberry.field(description="Hints for front-ends, such as readOnlyHint or title.")


@strawberry.type
class ContextMessage:
    """See `model.context.ContextMessage`."""

    role: str
    content: str
    origin: ContextOrigin
    seq: int | None
    tool_calls: list[ToolCall]
    tool_call_id: str | None


@strawberry.type(
    description="What the model would see next, as compiled now, and where each part comes from. Nothing is consumed, "
    "no model is called. Where wouldCompress is false it equals the next request, part for part; where it is true it "
    "shows the uncompressed form."
)
class ContextPreview:
    """See `session.context.compile.Compiled`."""

    messages: list[ContextMessage]
    tools: list[Tool]
    estimated_tokens: int
    max_context_tokens: int
    would_compress: bool = strawberry.field(description="True where sending now would first compress.")
