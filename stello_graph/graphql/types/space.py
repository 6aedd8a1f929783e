"""Spaces and what the model would see, as the schema shows them."""

import logging

import strawberry

from stello_graph.graphql.context import Info
from stello_graph.graphql.enums import ContextOrigin, KeyScope, TopologyStrategy, Trigger
from stello_graph.graphql.scalars import JSON, DateTime
from stello_graph.graphql.types.common import ToolCall, Usage
from stello_graph.model import space as model
from stello_graph.ports import LLM

__all__ = ["ContextPreview", "Space", "Tool", "Viewer"]

_DEFAULT_WINDOW = 200_000

logger = logging.getLogger(__name__)


async def _llm(space: model.Space, info: Info) -> LLM:
    """The model client of the Space, else the server's."""
    graph = info.context.graph
    try:
        async with graph.agents.agent(space.id, revision=space.revision) as agent:
            return agent.llm
    except Exception as error:
        # Its turns tell of it. The settings are shown all the same, as they may have to be mended.
        logger.warning("the agent of Space %s cannot be built: %s", space.id, type(error).__name__)
        return graph.llm


async def offline(space: strawberry.Parent[model.Space], info: Info) -> bool:
    """Whether the model only pretends."""
    return (await _llm(space, info)).is_offline


async def config(space: strawberry.Parent[model.Space], info: Info) -> model.SpaceConfig:
    """With the model that answers where none is set, and its window, else 200,000."""
    set_here, llm = space.config, await _llm(space, info)
    name = set_here.model or llm.default_model
    window = set_here.max_context_tokens or llm.window(name) or _DEFAULT_WINDOW
    return set_here.model_copy(update={"model": name, "max_context_tokens": window})


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
    model: str
    consolidate_model: str | None = strawberry.field(description="null: model.")
    integrate_model: str | None
    compress_model: str | None
    shared_memory: bool = strawberry.field(
        description="Off by default: it is a direct channel between sessions, which otherwise hear of each other "
        "through digests and insights only."
    )
    max_context_tokens: int
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
    config = strawberry.field(resolver=config, graphql_type=SpaceConfig)
    offline = strawberry.field(
        resolver=offline,
        graphql_type=bool,
        description="True where no real model is connected: the built-in one answers, and only quotes.",
    )
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
