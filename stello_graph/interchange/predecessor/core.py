"""Core data (L1) as records: a dot path for each value that is no object."""

import unicodedata
from collections.abc import Iterator
from typing import Any, Final

import orjson

from stello_graph.errors import Conflict, InvalidInput
from stello_graph.interchange.plan import Skipped
from stello_graph.interchange.report import BesideOutcome, ImportReport
from stello_graph.interchange.text import Cleaner, Unfit, label_of
from stello_graph.model.knowledge_checks import check_record_key
from stello_graph.ports import SpaceStore

__all__ = ["BAD_KEY", "NULL", "OTHER", "write_core"]

BAD_KEY: Final = "no key of a record: letters, digits, _ and - between dots, 200 characters at most"
NULL: Final = "null says nothing: a record has a value"
OTHER: Final = "there is another value already, which stays"
NO_OBJECT: Final = "it is no object"
LARGE: Final = "it is larger than a record may be"


async def write_core(store: SpaceStore, core: Any, max_value: int, report: ImportReport) -> None:
    """Writes what is missing, and tells the report.

    Args:
        max_value: how many bytes of JSON a record may have.
    """
    if core is None:
        return
    if not isinstance(core, dict):
        report.add(Skipped(where="core data", why=NO_OBJECT))
        return
    for path, value in _values(core):
        where = label_of(f"core data {path[:60]}")
        try:
            report.add_beside(await _write(store, _key(path), _fitting(value, max_value)))
        except Conflict:
            report.add_beside(BesideOutcome.DIFFERENT)
            report.add(Skipped(where=where, why=OTHER))
        except Unfit as error:
            report.add(Skipped(where=where, why=str(error)))


def _key(path: str) -> str:
    """Raises Unfit where no record may have that key."""
    try:
        return check_record_key(unicodedata.normalize("NFC", path))
    except InvalidInput:
        raise Unfit(BAD_KEY) from None


def _fitting(value: Any, max_value: int) -> Any:
    """Raises Unfit where no record may have that value."""
    if value is None:
        raise Unfit(NULL)
    cleaned = Cleaner().value(value)
    if len(orjson.dumps(cleaned)) > max_value:
        raise Unfit(LARGE)
    return cleaned


async def _write(store: SpaceStore, key: str, value: Any) -> BesideOutcome:
    """Raises Conflict where the record has another value."""
    known = await store.record(key)
    if known is not None and known.value == value:
        return BesideOutcome.PRESENT
    await store.put_record(key, value, 0)
    return BesideOutcome.IMPORTED


def _values(core: dict[str, Any]) -> Iterator[tuple[str, Any]]:
    """What is in the objects within each other, without recursion: a file may be nested deeply."""
    waiting = [(key, value) for key, value in reversed(core.items())]
    while waiting:
        path, value = waiting.pop()
        if isinstance(value, dict) and value:
            waiting.extend((f"{path}.{key}", below) for key, below in reversed(value.items()))
        else:
            yield path, value
