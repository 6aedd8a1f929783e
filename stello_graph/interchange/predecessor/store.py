"""The files of one store, in either of the two forms in which they lie."""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson

from stello_graph.interchange.conversations import Malformed
from stello_graph.interchange.plan import Skipped

__all__ = ["FileStore", "Records", "is_store"]

MAX_FILE = 256 << 20
NO_JSON = "it is no JSON"
NO_TEXT = "it is no text"
NO_RECORD = "the line is no record"
TOO_LARGE = "it is larger than 256 MiB"


def is_store(folder: Path) -> bool:
    """Whether the predecessor has kept sessions there."""
    return next(folder.glob("sessions/*/meta.json"), None) is not None


@dataclass(frozen=True, slots=True)
class Records:
    """A transcript, with its lines that are none."""

    records: list[Any]
    skipped: list[Skipped]


class FileStore:
    """Reads the files of a store. What is missing or empty is None; what is broken raises Malformed."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._is_mirrored = (folder / "memory" / "sessions").is_dir()

    def session_ids(self) -> Iterator[str]:
        """The folders' names, which are the ids, in their order."""
        yield from sorted(path.parent.name for path in self._folder.glob("sessions/*/meta.json"))

    def meta(self, id: str) -> Any:
        """What stands in `meta.json`."""
        return _json(self._of(id, "meta.json"))

    def config(self, id: str) -> Any:
        """What stands in `config.json`."""
        return _json(self._of(id, "config.json"))

    def system_prompt(self, id: str) -> Any:
        """The prompt that stands apart from `config.json`."""
        return _json(self._mirrored(id, "system-prompt.json")) if self._is_mirrored else None

    def memory(self, id: str) -> str | None:
        """L2."""
        return self._note(id, "memory")

    def index(self, id: str) -> str | None:
        """What a session wrote of its children."""
        return self._note(id, "index")

    def scope(self, id: str) -> str | None:
        """What a session is about."""
        return None if self._is_mirrored else self._note(id, "scope")

    def insight(self, id: str) -> str | None:
        """The pending insight."""
        return self._note(id, "scope") if self._is_mirrored else None

    def core(self) -> Any:
        """L1."""
        return _json((self._folder / "memory" if self._is_mirrored else self._folder) / "core.json")

    def records(self, id: str) -> Records:
        """L3. A line that is broken costs no other."""
        if self._is_mirrored:
            found = _json(self._mirrored(id, "records.json"))
            if found is not None and not isinstance(found, list):
                raise Malformed("its records are no list")
            return Records(found or [], [])
        records, skipped = [], []
        for number, line in enumerate((_read(self._of(id, "records.jsonl")) or b"").split(b"\n"), 1):
            if not line.strip():
                continue
            try:
                records.append(orjson.loads(line))
            except ValueError:
                skipped.append(Skipped(where=f"line {number}", why=NO_RECORD))
        return Records(records, skipped)

    def _note(self, id: str, name: str) -> str | None:
        if not self._is_mirrored:
            return _text(self._of(id, f"{name}.md"))
        found = _json(self._mirrored(id, f"{name}.json"))
        return found if isinstance(found, str) and found else None

    def _of(self, id: str, name: str) -> Path:
        return self._folder / "sessions" / id / name

    def _mirrored(self, id: str, name: str) -> Path:
        return self._folder / "memory" / "sessions" / id / name


def _json(path: Path) -> Any:
    data = _read(path)
    try:
        return None if data is None else orjson.loads(data)
    except ValueError as error:
        raise Malformed(f"{path.name}: {NO_JSON}") from error


def _text(path: Path) -> str | None:
    try:
        return (_read(path) or b"").decode() or None
    except UnicodeDecodeError as error:
        raise Malformed(f"{path.name}: {NO_TEXT}") from error


def _read(path: Path) -> bytes | None:
    try:
        if path.stat().st_size > MAX_FILE:
            raise Malformed(f"{path.name}: {TOO_LARGE}")
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Malformed(f"{path.name}: {error.strerror}") from error
