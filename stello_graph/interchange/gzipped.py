"""A file that is packed by gzip; nothing is unpacked to disk.

It is unpacked once before anything of it is read: no header of it says how much there is.
"""

import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from gzip import BadGzipFile, GzipFile
from typing import Final

from stello_graph.errors import InvalidInput, LimitExceeded
from stello_graph.interchange.archive import SIGNATURES
from stello_graph.interchange.jsonstream import CHUNK, Source
from stello_graph.interchange.listing import Listing, Opening, StoredFile, Unpacked, Unreadable, too_large

__all__ = ["SIGNATURE", "gzip_listing"]

SIGNATURE: Final = b"\x1f\x8b"

TWICE: Final = "it is packed by gzip, and once more below that: unpack it once"
DAMAGED: Final = "it is packed by gzip, and damaged or not whole"

_FAULTS = (BadGzipFile, zlib.error, EOFError)


def gzip_listing(opening: Opening, max_bytes: int) -> Listing:
    """The one file.

    Raises:
        InvalidInput: it is damaged or cut off, or what it holds is packed once more.
        LimitExceeded: it has more than `max_bytes`, unpacked.
    """
    try:
        size = _size(opening, max_bytes)
    except Unreadable as error:
        raise InvalidInput(str(error)) from error
    return Listing([StoredFile("", size, partial(_opened, opening), is_loose=True)])


def _size(opening: Opening, max_bytes: int) -> int:
    size = 0
    with _opened(opening) as source:
        while piece := source.read(CHUNK):
            if not size and piece.startswith((SIGNATURE, *SIGNATURES)):
                raise InvalidInput(TWICE)
            size += len(piece)
            if size > max_bytes:
                raise LimitExceeded(too_large(max_bytes))
    return size


@contextmanager
def _opened(opening: Opening) -> Iterator[Source]:
    with opening() as stream, GzipFile(fileobj=stream) as unpacked:
        yield Unpacked(unpacked, _FAULTS, DAMAGED)
