"""What records, shared memories and skills must fulfil."""

import re
import unicodedata

from stello_graph.errors import InvalidInput
from stello_graph.model.checks import check_text
from stello_graph.model.knowledge import Skill
from stello_graph.model.lines import in_one_line, one_line
from stello_graph.model.thinking import is_blank

__all__ = ["check_name", "check_prefix", "check_record_key", "check_shared_memory", "check_skill"]

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


def check_shared_memory(slug: str, summary: str, body: str) -> tuple[str, str, str]:
    """Returns slug, summary and body: the slug trimmed, the summary in one line, the body up to 64 KiB."""
    slug = check_name(slug, "slug")
    line = in_one_line(summary)
    if len(line) > _MAX_SUMMARY:
        raise InvalidInput(f"a summary has at most {_MAX_SUMMARY} characters")
    check_text(summary, "summary", _MAX_BODY)
    return slug, line, check_text(body, "body", _MAX_BODY)


def check_skill(skill: Skill) -> Skill:
    """Returns `skill` with its name trimmed; it has a short name and a content that says something."""
    name = check_name(skill.name)
    if len(skill.description) > _MAX_DESCRIPTION:
        raise InvalidInput(f"a description has at most {_MAX_DESCRIPTION} characters")
    check_text(skill.description, "description", 4 * _MAX_DESCRIPTION)
    if is_blank(check_text(skill.content, "content", _MAX_BODY)):
        raise InvalidInput("the content of a skill says something")
    return skill.model_copy(update={"name": name})


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
