"""What a Space holds beside its sessions: records (L1), shared memory, stored skills; checked here."""

from typing import Any

from stello_graph.errors import InvalidInput, NotFound
from stello_graph.model.checks import check_json, check_range
from stello_graph.model.knowledge import MAX_SHARED_MEMORIES, MAX_SKILLS, Record, SharedMemory, Skill
from stello_graph.model.knowledge_checks import (
    check_name,
    check_record_key,
    check_shared_memory,
    check_skill,
)
from stello_graph.ports import KnowledgeStore

__all__ = [
    "delete_record",
    "delete_shared_memory",
    "delete_skill",
    "put_record",
    "put_shared_memory",
    "put_skill",
]


async def put_record(
    store: KnowledgeStore, key: str, value: Any, expected_revision: int | None, limit: int
) -> Record:
    """Writes a record; None for the revision writes regardless, 0 only a new one.

    Raises:
        Conflict: it has another revision.
    """
    check_record_key(key)
    if value is None:
        raise InvalidInput("value is not null; deleteRecord takes a record away")
    check_json(value, "value", limit)
    if expected_revision is not None:
        check_range(expected_revision, "expectedRevision", 0)
    return await store.put_record(key, value, expected_revision)


async def delete_record(store: KnowledgeStore, key: str) -> bool:
    """Takes a record away. Raises NotFound where there is none."""
    if not await store.delete_record(check_record_key(key)):
        raise NotFound.of("record", key)
    return True


async def put_shared_memory(store: KnowledgeStore, slug: str, summary: str, body: str) -> SharedMemory:
    """Writes a shared memory; its summary becomes one line.

    Raises:
        LimitExceeded: the Space has as many as it may, or the body is longer than 64 KiB.
    """
    slug, line, body = check_shared_memory(slug, summary, body)
    return await store.put_shared_memory(slug, line, body, limit=MAX_SHARED_MEMORIES)


async def delete_shared_memory(store: KnowledgeStore, slug: str) -> bool:
    """Takes a shared memory away; whether there was one."""
    return await store.delete_shared_memory(check_name(slug, "slug"))


async def put_skill(store: KnowledgeStore, skill: Skill) -> Skill:
    """Writes a skill.

    Raises:
        LimitExceeded: the Space has as many as it may, or the content is longer than 64 KiB.
    """
    return await store.put_skill(check_skill(skill), limit=MAX_SKILLS)


async def delete_skill(store: KnowledgeStore, name: str) -> bool:
    """Takes a stored skill away. Raises NotFound where there is none, such as one of a folder."""
    if not await store.delete_skill(check_name(name)):
        raise NotFound.of("skill", name)
    return True
