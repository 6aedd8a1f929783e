"""Fork profiles: recipes that forks are made by."""

from typing import Final

from stello_graph.model.values import ForkContext, PromptMode, Value

__all__ = ["MAX_PROFILES", "ForkProfile"]

MAX_PROFILES: Final = 200


class ForkProfile(Value):
    """A reusable recipe for forks. What is None is not set.

    Attributes:
        system_prompt: a template over the fork's variables, as `string.Template` has them.
        skills: a whitelist; an empty one allows none.
        prompt: opening words, a template as well.
    """

    name: str
    system_prompt: str | None = None
    system_prompt_mode: PromptMode = PromptMode.PREPEND
    skills: tuple[str, ...] | None = None
    context: ForkContext | None = None
    prompt: str | None = None
