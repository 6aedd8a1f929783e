"""Skills from files: `folder/*/SKILL.md`, frontmatter that names the skill, and the instructions below it."""

import logging
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import yaml

from stello_graph.errors import InvalidInput, StelloError
from stello_graph.model.knowledge import Skill
from stello_graph.model.knowledge_checks import check_skill

__all__ = ["folder_skills", "parse_skill"]

logger = logging.getLogger(__name__)

_MAX_FILE = 256 * 1024


def folder_skills(folders: Iterable[str]) -> tuple[Skill, ...]:
    """The skills of all folders, by the names of their subfolders; of two with one name the later counts.

    What is missing or broken is logged and skipped: a server starts without it.
    """
    found: dict[str, Skill] = {}
    for path in (path for folder in folders for path in _files(folder)):
        try:
            skill = parse_skill(_text(path))
        except (OSError, ValueError, StelloError) as error:
            logger.warning("the skill %s is skipped: %s", path, error)
            continue
        if skill.name in found:
            logger.warning('the skill "%s" of %s takes the place of another of that name', skill.name, path)
        found[skill.name] = skill
    return tuple(found.values())


def parse_skill(text: str) -> Skill:
    """A skill from a text that begins with frontmatter between lines of `---`: name, perhaps description.

    Raises:
        InvalidInput: there is no frontmatter, no name, no text below it, or they are too long.
    """
    first, *lines = text.split("\n")
    if first.rstrip() != "---" or "---" not in (bare := [line.rstrip() for line in lines]):
        raise InvalidInput("it does not begin with frontmatter between lines of ---")
    end = bare.index("---")
    fields = _fields("\n".join(lines[:end]))
    name, description = fields.get("name"), fields.get("description")
    if not isinstance(name, str):
        raise InvalidInput("its frontmatter has no name that is a text")
    if not isinstance(description, str | None):
        raise InvalidInput("its description is not a text")
    content = "\n".join(lines[end + 1 :]).strip()
    return check_skill(Skill(name=name, description=(description or "").strip(), content=content))


def _fields(frontmatter: str) -> dict[str, Any]:
    try:
        fields = yaml.safe_load(frontmatter)
    except (yaml.YAMLError, RecursionError, ValueError) as error:
        raise InvalidInput(f"its frontmatter is no YAML: {' '.join(str(error).split())}") from error
    if not isinstance(fields, dict):
        raise InvalidInput("its frontmatter has no fields")
    return fields


def _files(folder: str) -> list[Path]:
    try:
        root = Path(folder).expanduser()
        if not root.is_dir():
            logger.warning("there is no skill folder %s", folder)
        return sorted(root.glob("*/SKILL.md"))
    except (OSError, RuntimeError, ValueError) as error:
        logger.warning("the skill folder %s cannot be read: %s", folder, error)
        return []


def _text(path: Path) -> str:
    if path.stat().st_size > _MAX_FILE:
        raise InvalidInput(f"it is larger than {_MAX_FILE} bytes")
    return path.read_text(encoding="utf-8-sig")
