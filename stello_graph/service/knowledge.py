"""What a Space holds beside its sessions: records, shared memory, skills, fork profiles."""

from typing import Any

from stello_graph.errors import NotFound
from stello_graph.forest.knowledge import (
    delete_record,
    delete_shared_memory,
    delete_skill,
    put_record,
    put_shared_memory,
    put_skill,
)
from stello_graph.forest.profiles import delete_profile, put_profile
from stello_graph.forest.skills import SkillBook
from stello_graph.ids import check_id
from stello_graph.model.knowledge import Record, SharedMemory, Skill
from stello_graph.model.profile import ForkProfile
from stello_graph.ports import SpaceStore

__all__ = ["KnowledgeService"]


class KnowledgeService:
    """The part of a SpaceService that belongs to no session."""

    store: SpaceStore
    _book: SkillBook
    _limit: int

    async def put_profile(self, profile: ForkProfile) -> ForkProfile:
        """Writes a fork profile; one of the same name is replaced whole."""
        return await put_profile(self.store, profile, self._limit)

    async def delete_profile(self, name: str) -> bool:
        """Whether there was a fork profile of this name."""
        return await delete_profile(self.store, name)

    async def put_record(self, key: str, value: Any, expected_revision: int | None = None) -> Record:
        """Writes a record (L1); None for the revision writes regardless, 0 only a new one."""
        return await put_record(self.store, key, value, expected_revision, self._limit)

    async def delete_record(self, key: str) -> bool:
        """Takes a record away."""
        return await delete_record(self.store, key)

    async def put_shared_memory(self, slug: str, summary: str, body: str) -> SharedMemory:
        """Writes a shared memory; what exists keeps its place in the list."""
        return await put_shared_memory(self.store, slug, summary, body)

    async def delete_shared_memory(self, slug: str) -> bool:
        """Takes a shared memory away; whether there was one."""
        return await delete_shared_memory(self.store, slug)

    async def skills(self, session_id: str | None = None) -> tuple[Skill, ...]:
        """The skills of the Space and of the server's folders; with a session those that it may use."""
        session = None
        if session_id is not None:
            session = (await self.store.sessions([check_id(session_id, "sessionId")])).get(session_id)
            if session is None:
                raise NotFound.of("session", session_id)
        return self._book.allowed(session, await self.store.skills())

    async def put_skill(self, skill: Skill) -> Skill:
        """Writes a skill of the Space; it wins over one of that name in a folder."""
        return await put_skill(self.store, skill)

    async def delete_skill(self, name: str) -> bool:
        """Takes a skill of the Space away."""
        return await delete_skill(self.store, name)
