"""Records, shared memory and stored skills of a Space.

Their writes leave no event. The Space keeps the ids of the last eight of them as receipts, so that a write
whose answer was lost finds its own when it runs again, even where others wrote meanwhile.
"""

from typing import Any

from stello_graph.errors import Conflict, LimitExceeded, NotFound
from stello_graph.ids import new_id
from stello_graph.model.knowledge import Record, SharedMemory, Skill
from stello_graph.store import rows
from stello_graph.store.engine import Row
from stello_graph.store.queries import Query, named
from stello_graph.store.repository import Repository

__all__ = ["KnowledgeRepository"]

GET_RECORD = named("records/get")
LIST_RECORDS = named("records/list")
PUT_RECORD = named("records/put")
DELETE_RECORD = named("records/delete")
GET_SHARED_MEMORY = named("shared_memory/get")
LIST_SHARED_MEMORIES = named("shared_memory/list")
PUT_SHARED_MEMORY = named("shared_memory/put")
DELETE_SHARED_MEMORY = named("shared_memory/delete")
GET_SKILL = named("skills/get")
LIST_SKILLS = named("skills/list")
PUT_SKILL = named("skills/put")
DELETE_SKILL = named("skills/delete")

_SURROGATES = range(0xD800, 0xE000)


class KnowledgeRepository(Repository):
    """See SpaceStore."""

    async def record(self, key: str) -> Record | None:
        """See SpaceStore."""
        found = await self._engine.read(GET_RECORD, key=self._key(key))
        return rows.record(found[0]) if found else None

    async def records(self, prefix: str, *, after: str, first: int) -> list[Record]:
        """See SpaceStore."""
        start = self._key(prefix)
        found = await self._engine.read(
            LIST_RECORDS, prefix=start, end=_end(start), after=self._key(after), first=first
        )
        return [rows.record(row) for row in found]

    async def put_record(self, key: str, value: Any, expected_revision: int | None) -> Record:
        """See SpaceStore."""
        row = await self._written(
            PUT_RECORD, key, id=key, value=rows.to_json(value), expectedRevision=expected_revision
        )
        if row["outcome"] == "CHANGED":
            now = row["revision"] or 0
            raise Conflict(
                f'record "{key}" has revision {now}, not {expected_revision}; it was left as it is',
                revision=now,
            )
        return rows.record(_present(row, "record", key))

    async def delete_record(self, key: str) -> bool:
        """See SpaceStore."""
        return await self._deleted(DELETE_RECORD, key)

    async def shared_memory(self, slug: str) -> SharedMemory | None:
        """See SpaceStore."""
        found = await self._engine.read(GET_SHARED_MEMORY, key=self._key(slug))
        return rows.shared_memory(found[0]) if found else None

    async def shared_memories(self) -> list[SharedMemory]:
        """See SpaceStore."""
        found = await self._engine.read(LIST_SHARED_MEMORIES, space=self._space_id)
        return [rows.shared_memory(row) for row in found]

    async def put_shared_memory(self, slug: str, summary: str, body: str, *, limit: int) -> SharedMemory:
        """See SpaceStore."""
        row = await self._written(PUT_SHARED_MEMORY, slug, id=slug, summary=summary, body=body, limit=limit)
        if row["outcome"] == "FULL":
            raise LimitExceeded(f"a Space has at most {limit} shared memories")
        return rows.shared_memory(_present(row, "shared memory", slug))

    async def delete_shared_memory(self, slug: str) -> bool:
        """See SpaceStore."""
        return await self._deleted(DELETE_SHARED_MEMORY, slug)

    async def skill(self, name: str) -> Skill | None:
        """See SpaceStore."""
        found = await self._engine.read(GET_SKILL, key=self._key(name))
        return rows.skill(found[0]) if found else None

    async def skills(self) -> list[Skill]:
        """See SpaceStore."""
        found = await self._engine.read(LIST_SKILLS, space=self._space_id)
        return [rows.skill(row) for row in found]

    async def put_skill(self, skill: Skill, *, limit: int) -> Skill:
        """See SpaceStore."""
        row = await self._written(
            PUT_SKILL,
            skill.name,
            id=skill.name,
            description=skill.description,
            content=skill.content,
            limit=limit,
        )
        if row["outcome"] == "FULL":
            raise LimitExceeded(f"a Space has at most {limit} skills")
        return rows.skill(_present(row, "skill", skill.name))

    async def delete_skill(self, name: str) -> bool:
        """See SpaceStore."""
        return await self._deleted(DELETE_SKILL, name)

    async def _deleted(self, query: Query, id: str) -> bool:
        row = await self._written(query, id)
        return bool(row["outcome"] != "NONE")

    async def _written(self, query: Query, id: str, /, **params: Any) -> Row:
        found = await self._engine.write(
            query, space=self._space_id, key=self._key(id), op=new_id(), **params
        )
        if not found:
            raise NotFound.of("space", self._space_id)
        return found[0]


def _present(row: Row, kind: str, id: str) -> Row:
    """The row of what was written; it may be gone already where the write had to run again."""
    if row["id"] is None:
        raise NotFound.of(kind, id)
    return row


def _end(prefix: str) -> str:
    """The first key after all that begin with `prefix`: keys are in the order of their code points."""
    following = ord(prefix[-1]) + 1
    return prefix[:-1] + chr(_SURROGATES.stop if following in _SURROGATES else following)
