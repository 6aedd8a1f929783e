"""Ordered migrations: `migrations/0001_name.<language>`, each applied once, in order."""

import re
from dataclasses import dataclass
from typing import Any, Final

from stello_graph.model.values import StoreState
from stello_graph.store.queries import Language, folder, split_statements

__all__ = ["Migration", "migrations", "schema_script", "state_of"]

# What a statement of the schema makes, by its name.
_NAMED: Final = re.compile(
    r"\s*CREATE (?:[A-Z]+ )?(?:TABLE|INDEX|VIEW|TRIGGER|CONSTRAINT) (?:IF NOT EXISTS )?\"?(\w+)"
)


@dataclass(frozen=True, slots=True)
class Migration:
    """One step of the schema."""

    version: int
    name: str
    statements: tuple[str, ...]


def migrations(language: Language) -> list[Migration]:
    """All migrations of one language, oldest first."""
    return [
        Migration(int(path.stem.split("_")[0]), path.stem, _statements(path.read_text(encoding="utf-8")))
        for path in sorted((folder(language) / "migrations").glob(f"*.{language}"))
    ]


def schema_script(language: Language, name: str) -> tuple[str, ...]:
    """The statements of a file below `schema/`.

    `schema` makes today's schema at once and equals the chain of migrations; the others are what
    an engine runs around them.
    """
    path = folder(language) / "schema" / f"{name}.{language}"
    return _statements(path.read_text(encoding="utf-8"))


def state_of(language: Language, found: dict[str, Any]) -> StoreState:
    """The state of a store whose clock and names were read; today's schema tells what should be there."""
    wanted = [match[1] for text in schema_script(language, "schema") if (match := _NAMED.match(text))]
    missing = sorted(set(wanted) - set(found["names"]))
    return StoreState(now=found["now"], missing=tuple(missing))


def _statements(text: str) -> tuple[str, ...]:
    lines = [line for line in text.splitlines() if not line.startswith(("//", "--"))]
    return tuple(statement.rstrip(";") for statement in split_statements("\n".join(lines)))
