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
from stello_graph.interchange.folder import folder_listing
from stello_graph.interchange.gzipped import SIGNATURE, gzip_listing
from stello_graph.interchange.jsonstream import CHUNK, Source
from stello_graph.interchange.listing import Listing, StoredFile, too_large

__all__ = ["listing_at", "listing_of", "shown"]

STANDARD_INPUT: Final = Path("-")


def shown(path: Path) -> str:
    """As people see it."""
    return "the standard input" if path == STANDARD_INPUT else str(path)


def listing_at(path: Path, opened: ExitStack, max_bytes: int) -> Listing:
    """What can be read there until `opened` is closed.

    Raises as `listing_of`, and:
        InvalidInput: it is not there, or cannot be read.
    """
    if path == STANDARD_INPUT:
        taken = opened.enter_context(TemporaryFile())  # noqa: SIM115
        _take(sys.stdin.buffer, taken, max_bytes)
        return listing_of(taken, max_bytes)
    if path.is_dir():
        return folder_listing(path)
    try:
        stream = opened.enter_context(path.open("rb"))
    except OSError as error:
        raise InvalidInput(f"it cannot be read: {error.strerror}") from error
    return listing_of(stream, max_bytes)


def listing_of(stream: IO[bytes], max_bytes: int) -> Listing:
    """Of a seekable stream.

    Raises:
        InvalidInput: it is packed, and damaged.
        LimitExceeded: it is packed, and holds more than `max_bytes` or more files than are read.
    """
    head = stream.read(len(SIGNATURES[0]))
    if head in SIGNATURES:
        return archive_listing(stream)
    if head.startswith(SIGNATURE):
        return gzip_listing(stream, max_bytes)
    size = stream.seek(0, SEEK_END)
    return Listing([StoredFile("", size, partial(_from_its_start, stream), is_loose=True)])


def _take(stream: IO[bytes], file: IO[bytes], max_bytes: int) -> None:
    """All of a stream that cannot be sought in: it is read more than once."""
    while piece := stream.read(CHUNK):
        file.write(piece)
        if file.tell() > max_bytes:
            raise LimitExceeded(too_large(max_bytes))
    file.seek(0)


@contextmanager
def _from_its_start(stream: IO[bytes]) -> Iterator[Source]:
    stream.seek(0)
    yield stream
