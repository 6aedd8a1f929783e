"""What an archive or a folder holds, before it is known which of its files are exports."""

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field, replace
from typing import IO

from stello_graph.errors import InvalidInput, LimitExceeded
from stello_graph.interchange.jsonstream import Source
from stello_graph.interchange.plan import Skipped

__all__ = ["Listing", "Opening", "StoredFile", "Unpacked", "Unreadable", "naming", "too_large"]


class Unreadable(Exception):
    """A file cannot be read, or not further; the text says why."""


class Unpacked:
    """What comes out of a packed file; it cannot be sought in: to go back would be to unpack all anew.

    Its reads raise Unreadable with `why` for each of `faults`, which is what unpacking raises.
    """

    def __init__(self, stream: Source, faults: tuple[type[Exception], ...], why: str) -> None:
        self._stream = stream
        self._faults = faults
        self._why = why

    def read(self, size: int, /) -> bytes:
        """Up to so many bytes, none at the end."""
        try:
            return self._stream.read(size)
        except self._faults as error:
            raise Unreadable(self._why) from error


Opening = Callable[[], AbstractContextManager[IO[bytes]]]
"""Opens a file anew, at its beginning; it can be sought in. May raise Unreadable."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """A file that may be an export.

    Attributes:
        name: as people see it; empty where there is only this one.
        size: in bytes, unpacked; no more are read.
        open: at its beginning. It and the reads may raise Unreadable.
        has_checksum: whether reading it to its end tells that it is what it was.
        is_loose: a person named this very file, and so may say which format it has.
    """

    name: str
    size: int
    open: Callable[[], AbstractContextManager[Source]]
    has_checksum: bool = False
    is_loose: bool = False


@dataclass(frozen=True, slots=True)
class Listing:
    """The files of an archive, of a folder, or of all that a person has named.

    Attributes:
        files: those that may be exports, in the order of their names.
        others: the names of those that are none.
        skipped: those that might be exports and cannot be read.
    """

    files: list[StoredFile] = field(default_factory=list)
    others: list[str] = field(default_factory=list)
    skipped: list[Skipped] = field(default_factory=list)

    def take(self, other: "Listing", name: str) -> None:
        """Adds what `other` has, which a person has named `name`; without one the names stay as they are."""
        self.files.extend(replace(file, name=_below(name, file.name)) for file in other.files)
        self.others.extend(_below(name, each) for each in other.others)
        self.skipped.extend(each.inside(name) for each in other.skipped)


@contextmanager
def naming(name: str) -> Iterator[None]:
    """Whatever is refused is so with the name of the file, empty where that is known."""
    try:
        yield
    except (InvalidInput, LimitExceeded) as error:
        if not name:
            raise
        raise type(error)(f"{name}: {error.message}") from error


def too_large(max_bytes: int) -> str:
    """What is said of more than may be imported at once."""
    return f"what is imported at once has at most {max_bytes} bytes, unpacked (STELLO_MAX_IMPORT_BYTES)"


def _below(folder: str, name: str) -> str:
    return "/".join(each for each in (folder, name) if each)
