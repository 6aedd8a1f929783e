"""What a Space holds beside its sessions: records (L1), shared memory, stored skills; checked here."""

import re
import unicodedata
from typing import Any

from stello_graph.errors import InvalidInput, NotFound
from stello_graph.forest.checks import check_json, check_range, check_text
from stello_graph.model.knowledge import MAX_SHARED_MEMORIES, MAX_SKILLS, Record, SharedMemory, Skill
from stello_graph.ports import KnowledgeStore
from stello_graph.session.context.text import in_one_line, is_blank, one_line

__all__ = [
    "check_name",
    "check_prefix",
    "check_record_key",
    "check_skill",
    "delete_record",
    "delete_shared_memory",
    "delete_skill",
    "put_record",
    "put_shared_memory",
    "put_skill",
]

_MAX_KEY = 200
_MAX_NAME = 100
_MAX_SUMMARY = 500
_MAX_DESCRIPTION = 1_000
_MAX_BODY = 64 * 1024

_SEPARATORS = re.compile(r"[._-]")
_PARTS = "LNM"


def check_record_key(key: str) -> str:
    """Returns `key`: 1 to 200 characters, a dot path of letters, digits, `_` and `-`, composed (NFC)."""
    check_prefix(key, "key")
    if not all(key.split(".")):
        raise InvalidInput("a key is a dot path such as goals.q3, none of its segments empty")
    if not unicodedata.is_normalized("NFC", key):
        raise InvalidInput("a key is in the composed form of Unicode (NFC)")
    return key


def check_prefix(prefix: str, what: str = "prefix") -> str:
    """Returns what keys may begin with: at most 200 letters, digits, `_`, `-` and dots."""
    if len(prefix) > _MAX_KEY:
        raise InvalidInput(f"{what} has at most {_MAX_KEY} characters")
    if not all(unicodedata.category(c)[0] in _PARTS for c in _SEPARATORS.sub("", prefix)):
        raise InvalidInput(f"{what} holds letters, digits, _, - and dots")
    return prefix


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
    slug = check_name(slug, "slug")
    line = in_one_line(summary)
    if len(line) > _MAX_SUMMARY:
        raise InvalidInput(f"a summary has at most {_MAX_SUMMARY} characters")
    check_text(summary, "summary", _MAX_BODY)
    check_text(body, "body", _MAX_BODY)
    return await store.put_shared_memory(slug, line, body, limit=MAX_SHARED_MEMORIES)


async def delete_shared_memory(store: KnowledgeStore, slug: str) -> bool:
    """Takes a shared memory away; whether there was one."""
    return await store.delete_shared_memory(check_name(slug, "slug"))


def check_skill(skill: Skill) -> Skill:
    """Returns `skill` with its name trimmed; it has a short name and a content that says something."""
    name = check_name(skill.name)
    if len(skill.description) > _MAX_DESCRIPTION:
        raise InvalidInput(f"a description has at most {_MAX_DESCRIPTION} characters")
    check_text(skill.description, "description", 4 * _MAX_DESCRIPTION)
    if is_blank(check_text(skill.content, "content", _MAX_BODY)):
        raise InvalidInput("the content of a skill says something")
    return skill.model_copy(update={"name": name})


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


def check_name(text: str, what: str = "name") -> str:
    """Returns `text` trimmed: 1 to 100 characters of one line, without control characters, `<` and `>`."""
    name = text.strip()
    if len(name) > _MAX_NAME:
        raise InvalidInput(f"{what} has at most {_MAX_NAME} characters")
    if is_blank(check_text(name, what, 4 * _MAX_NAME)):
        raise InvalidInput(f"{what} is required")
    # Prompts show it as one_line does, and the model has to give it back letter by letter.
    if one_line(name) != name:
        raise InvalidInput(f"{what} is one line without control characters, < and >")
    return name
