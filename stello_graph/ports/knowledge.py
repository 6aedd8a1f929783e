"""The part of a Space's store that holds what belongs to no session."""

from typing import Any, Protocol

from stello_graph.model.knowledge import Record, SharedMemory, Skill
from stello_graph.model.profile import ForkProfile

__all__ = ["KnowledgeStore"]


class KnowledgeStore(Protocol):
    """Records (L1), shared memory, stored skills and fork profiles. Each write is one transaction."""

    async def record(self, key: str) -> Record | None:
        """One record (L1)."""
        ...

    async def records(self, prefix: str, *, after: str, first: int) -> list[Record]:
        """A page of the records whose key begins with `prefix`, by key in code points, from after `after`."""
        ...

    async def put_record(self, key: str, value: Any, expected_revision: int | None) -> Record:
        """Writes a record; None for the revision writes regardless, 0 only a new one.

        Raises:
            Conflict: it has another revision: `details["revision"]`, 0 where there is none.
        """
        ...

    async def delete_record(self, key: str) -> bool:
        """Whether there was one."""
        ...

    async def shared_memory(self, slug: str) -> SharedMemory | None:
        """One shared memory."""
        ...

    async def shared_memories(self) -> list[SharedMemory]:
        """All of them, in the order of first insertion."""
        ...

    async def put_shared_memory(self, slug: str, summary: str, body: str, *, limit: int) -> SharedMemory:
        """Writes one; what exists keeps its place, what is new comes last.

        Raises:
            LimitExceeded: it would be new, and there are `limit` already.
        """
        ...

    async def delete_shared_memory(self, slug: str) -> bool:
        """Whether there was one."""
        ...

    async def skill(self, name: str) -> Skill | None:
        """One stored skill."""
        ...

    async def skills(self) -> list[Skill]:
        """All stored skills, in the order of first insertion."""
        ...

    async def put_skill(self, skill: Skill, *, limit: int) -> Skill:
        """Writes one; what exists keeps its place, what is new comes last.

        Raises:
            LimitExceeded: it would be new, and there are `limit` already.
        """
        ...

    async def delete_skill(self, name: str) -> bool:
        """Whether there was one."""
        ...

    async def profiles(self) -> list[ForkProfile]:
        """All fork profiles, in the order of first insertion."""
        ...

    async def put_profile(self, profile: ForkProfile, *, limit: int) -> ForkProfile:
        """Writes one whole; what exists keeps its place, what is new comes last.

        Raises:
            LimitExceeded: it would be new, and there are `limit` already.
        """
        ...

    async def delete_profile(self, name: str) -> bool:
        """Whether there was one."""
        ...
