"""A Space: one tenant, an isolated forest with its own configuration."""

from enum import StrEnum

from stello_graph.model.values import TopologyStrategy, Usage, Value

__all__ = ["Space", "SpaceConfig", "SplitGuard", "Trigger", "default_name"]


class Trigger(StrEnum):
    """When a background task becomes due. AFTER_CONSOLIDATE is for integration alone."""

    ON_SWITCH = "ON_SWITCH"
    ON_LEAVE = "ON_LEAVE"
    EVERY_N_TURNS = "EVERY_N_TURNS"
    ON_ARCHIVE = "ON_ARCHIVE"
    AFTER_CONSOLIDATE = "AFTER_CONSOLIDATE"


class SplitGuard(Value):
    """From how many turns on a session may be forked, and how many later again.

    Attributes:
        for_tools: holds forks by the model.
        for_api: holds forks by the API.
        min_turns: completed turns that the source has at least.
        cooldown_turns: those since it was last forked.
    """

    for_tools: bool = True
    for_api: bool = False
    min_turns: int = 3
    cooldown_turns: int = 5

    def missing_turns(self, turn_count: int, last_split: int | None) -> int:
        """How many turns a session needs yet, 0 or less where it may be forked.

        Args:
            turn_count: its completed turns.
            last_split: how many they were when it was last forked, None where it never was.
        """
        again = 0 if last_split is None else last_split + self.cooldown_turns
        return max(self.min_turns, again) - turn_count


class SpaceConfig(Value):
    """What a Space sets for its sessions. None takes the default that the server resolves.

    Attributes:
        model: None is the server's default model.
        max_context_tokens: the model's window; None takes the known model's, else 200,000.
    """

    strategy: TopologyStrategy | None = None
    system_prompt: str | None = None
    model: str | None = None
    consolidate_model: str | None = None
    integrate_model: str | None = None
    compress_model: str | None = None
    shared_memory: bool = False
    max_context_tokens: int | None = None
    max_output_tokens: int = 8192
    max_tool_rounds: int = 5
    consolidate_prompt: str | None = None
    integrate_prompt: str | None = None
    compress_prompt: str | None = None
    role_context: str | None = None
    consolidate_on: tuple[Trigger, ...] = ()
    integrate_on: tuple[Trigger, ...] = ()
    every_n_turns: int = 5
    split_guard: SplitGuard = SplitGuard()


class Space(Value):
    """One tenant.

    Attributes:
        revision: grows with each change of name or configuration.
        event_seq: number of its last topology event.
        created_at: UTC microseconds.
    """

    id: str
    name: str
    config: SpaceConfig = SpaceConfig()
    revision: int = 0
    usage: Usage = Usage()
    session_count: int = 0
    event_seq: int = 0
    created_at: int


def default_name(space_id: str) -> str:
    """The name of a Space that nobody named."""
    return space_id.title()
