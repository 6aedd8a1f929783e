"""What a Space holds beside its sessions: records (L1), shared memory, skills."""

from typing import Any, Final

from stello_graph.model.values import Value

__all__ = [
    "MAX_SHARED_MEMORIES",
    "MAX_SKILLS",
    "Record",
    "SharedMemory",
    "SharedMemoryNote",
    "Skill",
    "SkillNote",
]

MAX_SHARED_MEMORIES: Final = 200
MAX_SKILLS: Final = 200


class Record(Value):
    """One global key of the Space.

    Attributes:
        key: a dot path.
        value: any JSON value but null.
        revision: 1 when it is new, and one more with each write.
        updated_at: UTC microseconds.
    """

    key: str
    value: Any
    revision: int
    updated_at: int


class SharedMemoryNote(Value):
    """What the index in each prompt tells of a shared memory: one line, without the body."""

    slug: str
    summary: str
    updated_at: int


class SharedMemory(SharedMemoryNote):
    """What any session wrote for all of them. `updated_at` in UTC microseconds."""

    body: str


class SkillNote(Value):
    """What a model is told of a skill before it activates it."""

    name: str
    description: str


class Skill(SkillNote):
    """Instructions that a session takes on when it needs them."""

    content: str
