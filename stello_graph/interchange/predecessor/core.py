"""Core data (L1) as records: a dot path for each value that is no object."""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

import orjson

from stello_graph.errors import Conflict
from stello_graph.interchange.plan import Skipped
from stello_graph.interchange.text import Cleaner, Unfit, label_of
from stello_graph.ports import SpaceStore

__all__ = ["BAD_KEY", "NULL", "OTHER", "WrittenCore", "write_core"]

BAD_KEY: Final = "no key of a record: letters, digits, _ and - between dots, 200 characters at most"
NULL: Final = "null says nothing: a record has a value"
OTHER: Final = "there is another value already, which stays"
NO_OBJECT: Final = "it is no object"
LARGE: Final = "it is larger than a record may be"

# Fewer than a record's key may have: marks are left out.
_KEY = re.compile(r"[\w-]+(?:\.[\w-]+)*")
_MAX_KEY = 200


@dataclass(slots=True)
class WrittenCore:
    """What became of core data: how many records were made, how many were here already as they are, and
    what is left out.
    """

    made: int = 0
    known: int = 0
    skipped: list[Skipped] = field(default_factory=list)


async def write_core(store: SpaceStore, core: Any, max_value: int) -> WrittenCore:
    """Writes what is missing.

    Args:
        max_value: how many bytes of JSON a record may have.
    """
    if not isinstance(core, dict):
        return WrittenCore(skipped=[] if core is None else [Skipped(where="core data", why=NO_OBJECT)])
    written = WrittenCore()
    for path, value in _values(core):
        where, key = label_of(f"core data {path[:60]}"), unicodedata.normalize("NFC", path)
        if len(key) > _MAX_KEY or not _KEY.fullmatch(key):
            written.skipped.append(Skipped(where=where, why=BAD_KEY))
        elif value is None:
            written.skipped.append(Skipped(where=where, why=NULL))
        else:
            try:
                if await _write(store, key, _fitting(value, max_value)):
                    written.made += 1
                else:
                    written.known += 1
            except Conflict:
                written.skipped.append(Skipped(where=where, why=OTHER))
            except Unfit as error:
                written.skipped.append(Skipped(where=where, why=str(error)))
    return written


def _fitting(value: Any, max_value: int) -> Any:
    """Raises Unfit where no record may have that value."""
    cleaned = Cleaner().value(value)
    if len(orjson.dumps(cleaned)) > max_value:
        raise Unfit(LARGE)
    return cleaned


async def _write(store: SpaceStore, key: str, value: Any) -> bool:
    """Whether the record is new. Raises Conflict where it has another value."""
    known = await store.record(key)
    if known is not None and known.value == value:
        return False
    await store.put_record(key, value, 0)
    return True


def _values(core: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What is in the objects within each other, without recursion: a file may be nested deeply."""
    waiting = [(key, value) for key, value in reversed(core.items())]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict) and value:
            waiting.extend((f"{path}.{key}", below) for key, below in reversed(value.items()))
        else:
            yield path, value
