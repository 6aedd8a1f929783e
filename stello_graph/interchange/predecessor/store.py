"""The files of one store, in either of the two forms in which they lie."""

import os
import stat
from codecs import BOM_UTF8
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from stello_graph.interchange.conversations import Malformed
from stello_graph.interchange.jsonstream import Broken, parsed
from stello_graph.interchange.plan import Skipped

__all__ = ["FileStore", "Records", "is_store"]

MAX_FILE = 256 << 20
NO_JSON = "it is no JSON"
NO_TEXT = "it is no text"
NO_RECORD = "the line is no record"
NO_LIST = "its records are no list"
NO_FILE = "it is no regular file"
OUTSIDE = "it is a link out of the folder"
TOO_LARGE = "it is larger than 256 MiB"

_KEPT = {
    "sessions": ("records.jsonl", "memory.md", "scope.md", "index.md", "config.json"),
    "memory/sessions": ("records.json", "memory.json", "scope.json", "index.json", "system-prompt.json"),
}


def is_store(folder: Path) -> bool:
    """Whether the predecessor has kept sessions there, or core data beside a folder for them."""
    if next(folder.glob("sessions/*/meta.json"), None) is not None:
        return True
    return (folder / "sessions").is_dir() and any(path.is_file() for path in _core_files(folder))


@dataclass(frozen=True, slots=True)
class Records:
    """A transcript, with its lines that are none."""

    records: list[Any]
    skipped: list[Skipped]


class FileStore:
    """Reads the files of a store. What is missing or empty is None; what is broken raises Malformed.

    Of a thing that may lie in either form, the file below `memory/` counts, unless it is missing or empty.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def session_ids(self) -> Iterator[str]:
        """The folders' names, which are the ids, in their order."""
        yield from sorted(path.parent.name for path in self._folder.glob("sessions/*/meta.json"))

    def without_meta(self) -> Iterator[str]:
        """Names of folders that hold what a session said or remembers, or how it is set, but are none."""
        found = {
            path.parent.name
            for folder, names in _KEPT.items()
            for name in names
            for path in self._folder.glob(f"{folder}/*/{name}")
            if path.is_file() and path.stat().st_size
        }
        yield from sorted(found - set(self.session_ids()))

    def meta(self, id: str) -> Any:
        """What stands in `meta.json`."""
        return self._json(self._of(id, "meta.json"))

    def config(self, id: str) -> Any:
        """What stands in `config.json`."""
        return self._json(self._of(id, "config.json"))

    def system_prompt(self, id: str) -> str | None:
        """The prompt that stands apart from `config.json`."""
        return self._mirrored_text(id, "system-prompt")

    def memory(self, id: str) -> str | None:
        """L2."""
        return self._note(id, "memory")

    def index(self, id: str) -> str | None:
        """What a session wrote of its children."""
        return self._note(id, "index")

    def scope(self, id: str) -> str | None:
        """What a session is about."""
        return self._text(self._of(id, "scope.md"))

    def insight(self, id: str) -> str | None:
        """The pending insight."""
        return self._mirrored_text(id, "scope")

    def core(self) -> Any:
        """L1."""
        return next((core for path in _core_files(self._folder) if (core := self._json(path))), None)

    def records(self, id: str) -> Records:
        """L3. A line that is broken costs no other."""
        found = self._json(self._mirrored(id, "records.json"))
        if found is not None and not isinstance(found, list):
            raise Malformed(NO_LIST)
        return Records(found, []) if found else self._lines(self._of(id, "records.jsonl"))

    def _lines(self, path: Path) -> Records:
        records, skipped = [], []
        for number, line in enumerate((self._read(path) or b"").split(b"\n"), 1):
            if not line.strip():
                continue
            record = parsed(line)
            if isinstance(record, Broken):
                skipped.append(Skipped(where=f"line {number}", why=NO_RECORD))
            else:
                records.append(record)
        return Records(records, skipped)

    def _note(self, id: str, name: str) -> str | None:
        return self._mirrored_text(id, name) or self._text(self._of(id, f"{name}.md"))

    def _mirrored_text(self, id: str, name: str) -> str | None:
        path = self._mirrored(id, f"{name}.json")
        found = self._json(path)
        if found is not None and not isinstance(found, str):
            raise Malformed(f"{path.name}: {NO_TEXT}")
        return found or None

    def _of(self, id: str, name: str) -> Path:
        return self._folder / "sessions" / id / name

    def _mirrored(self, id: str, name: str) -> Path:
        return self._folder / "memory" / "sessions" / id / name

    def _json(self, path: Path) -> Any:
        data = self._read(path)
        if data is None:
            return None
        value = parsed(data)
        if isinstance(value, Broken):
            raise Malformed(f"{path.name}: {NO_JSON}")
        return value

    def _text(self, path: Path) -> str | None:
        """Bytes that are no UTF-8 become lone surrogates, as in JSON."""
        return (self._read(path) or b"").decode("utf-8", "surrogateescape") or None

    def _read(self, path: Path) -> bytes | None:
        """None for nothing, and for nothing but a byte order mark."""
        try:
            found = path.stat()
            if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(self._folder)):
                raise Malformed(f"{path.name}: {OUTSIDE}")
            if not stat.S_ISREG(found.st_mode):
                raise Malformed(f"{path.name}: {NO_FILE}")
            if found.st_size > MAX_FILE:
                raise Malformed(f"{path.name}: {TOO_LARGE}")
            return path.read_bytes().removeprefix(BOM_UTF8) or None
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise Malformed(f"{path.name}: {error.strerror}") from error


def _core_files(folder: Path) -> tuple[Path, Path]:
    return folder / "memory" / "core.json", folder / "core.json"
