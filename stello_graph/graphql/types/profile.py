"""Fork profiles, as the schema shows them."""

import strawberry

from stello_graph.graphql.enums import ForkContext, PromptMode

__all__ = ["ForkProfile"]


@strawberry.type(description="A reusable recipe for forks.")
class ForkProfile:
    """See `model.profile.ForkProfile`."""

    name: str
    system_prompt: str | None
    system_prompt_mode: PromptMode
    skills: list[str] | None
    context: ForkContext | None
    prompt: str | None
