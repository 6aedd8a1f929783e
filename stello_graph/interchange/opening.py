"""Opens what a person names: a file, packed or not, an archive, a folder, or the standard input."""

import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import partial
from os import SEEK_END
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, Final

from stello_graph.errors import InvalidInput, LimitExceeded
from stello_graph.interchange.archive import SIGNATURES, archive_listing
from stello_graph.interchange.folder import folder_listing, opened_at
from stello_graph.interchange.gzipped import SIGNATURE, gzip_listing
from stello_graph.interchange.jsonstream import CHUNK
from stello_graph.interchange.listing import Listing, Opening, StoredFile, Unreadable, too_large

__all__ = ["listing_at", "listing_of", "shown"]

STANDARD_INPUT: Final = Path("-")


def shown(path: Path) -> str:
    """As people see it."""
    return "the standard input" if path == STANDARD_INPUT else str(path)


def listing_at(path: Path, opened: ExitStack, max_bytes: int) -> Listing:
    """What can be read there until `opened` is closed. Files are open only while they are read: a person may
    name more of them than a process may have open.

    Raises as `listing_of`, and:
        InvalidInput: it is not there, or cannot be read.
    """
    if path == STANDARD_INPUT:
        taken = opened.enter_context(TemporaryFile())  # noqa: SIM115
        _take(sys.stdin.buffer, taken, max_bytes)
        return listing_of(partial(from_its_start, taken), max_bytes)
    if path.is_dir():
        return folder_listing(path)
    try:
        return listing_of(partial(opened_at, path), max_bytes)
    except Unreadable as error:
        raise InvalidInput(str(error)) from error


def listing_of(opening: Opening, max_bytes: int) -> Listing:
    """Of one file.

    Raises:
        Unreadable: it cannot be opened.
        InvalidInput: it is packed, and damaged.
        LimitExceeded: it is packed, and holds more than `max_bytes` or more files than are read.
    """
    with opening() as stream:
        head = stream.read(len(SIGNATURES[0]))
        size = stream.seek(0, SEEK_END)
    if head in SIGNATURES:
        return archive_listing(opening)
    if head.startswith(SIGNATURE):
        return gzip_listing(opening, max_bytes)
    return Listing([StoredFile("", size, opening, is_loose=True)])


@contextmanager
def from_its_start(stream: IO[bytes]) -> Iterator[IO[bytes]]:
    """A stream that stays open, for `listing_of`."""
    stream.seek(0)
    yield stream


def _take(stream: IO[bytes], file: IO[bytes], max_bytes: int) -> None:
    """All of a stream that cannot be sought in: it is read more than once."""
    while piece := stream.read(CHUNK):
        file.write(piece)
        if file.tell() > max_bytes:
            raise LimitExceeded(too_large(max_bytes))
    file.seek(0)
