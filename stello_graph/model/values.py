"""The base of all values, and what several of them share."""

from enum import StrEnum

from pydantic import BaseModel, ConfigDict
from pydantic.alias_generators import to_camel

__all__ = [
    "ForkContext",
    "KeyScope",
    "PromptMode",
    "SessionRole",
    "SessionStatus",
    "StoreState",
    "TopologyStrategy",
    "Usage",
    "Value",
    "Viewer",
]


class Value(BaseModel):
    """A frozen value. It is built by field name or by the camelCase name of the stored property."""

    model_config = ConfigDict(
        frozen=True, alias_generator=to_camel, validate_by_name=True, validate_by_alias=True, extra="ignore"
    )


class SessionStatus(StrEnum):
    """Whether a session takes writes."""

    ACTIVE = "ACTIVE"
    ARCHIVED = "ARCHIVED"


class SessionRole(StrEnum):
    """MAIN is the hub of a tree: a root that has a synthesis, and gives no context to forks."""

    STANDARD = "STANDARD"
    MAIN = "MAIN"


class TopologyStrategy(StrEnum):
    """Where forks hang: under their source (TREE, HIERARCHICAL) or under the root (FLAT)."""

    TREE = "TREE"
    FLAT = "FLAT"
    HIERARCHICAL = "HIERARCHICAL"


class ForkContext(StrEnum):
    """What a fork takes of its source's transcript."""

    NONE = "NONE"
    INHERIT = "INHERIT"
    COMPRESS = "COMPRESS"


class PromptMode(StrEnum):
    """How a profile's prompt and the fork's own go together."""

    PREPEND = "PREPEND"
    APPEND = "APPEND"
    PRESET = "PRESET"


class KeyScope(StrEnum):
    """What a caller may do: each but OPERATOR includes the ones before."""

    READ = "READ"
    WRITE = "WRITE"
    ADMIN = "ADMIN"
    OPERATOR = "OPERATOR"


class Viewer(Value):
    """Who asks, and inside which Space."""

    space_id: str | None
    key_name: str | None = None
    scope: KeyScope


class StoreState(Value):
    """How the store is.

    Attributes:
        now: its clock, UTC microseconds.
        missing: the names of indexes, constraints and the like that its schema lacks or has not ready.
    """

    now: int
    missing: tuple[str, ...] = ()


class Usage(Value):
    """Tokens and model calls, summed. Units: tokens as the provider counts them."""

    input_tokens: int = 0
    output_tokens: int = 0
    cache_read_tokens: int = 0
    cache_write_tokens: int = 0
    llm_calls: int = 0

    def __add__(self, other: "Usage") -> "Usage":
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cache_read_tokens=self.cache_read_tokens + other.cache_read_tokens,
            cache_write_tokens=self.cache_write_tokens + other.cache_write_tokens,
            llm_calls=self.llm_calls + other.llm_calls,
        )
