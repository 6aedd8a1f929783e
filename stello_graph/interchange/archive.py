"""Lists a zip archive and reads its members one after the other; nothing is unpacked to disk.

No member gives more bytes than the archive's directory says of it, so that sizes can be held against a limit
before anything is read: zipfile stops there, and tells what goes on as a wrong checksum.
"""

import struct
import zlib
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from functools import partial
from typing import IO, Final
from zipfile import ZIP_DEFLATED, ZIP_STORED, BadZipFile, ZipFile, ZipInfo

from stello_graph.errors import InvalidInput, LimitExceeded
from stello_graph.interchange.jsonstream import Source
from stello_graph.interchange.listing import Listing, Opening, StoredFile, Unpacked, Unreadable
from stello_graph.interchange.plan import Skipped
from stello_graph.interchange.text import label_of

__all__ = ["DAMAGED", "ENCRYPTED", "MAX_MEMBERS", "NESTED", "PACKED", "SIGNATURES", "archive_listing"]

SIGNATURES: Final = (b"PK\x03\x04", b"PK\x05\x06")
"""What archives begin with: a member, or the end of an empty one."""

MAX_MEMBERS: Final = 50_000
MAX_READ: Final = 8 << 20

ENCRYPTED: Final = "it is encrypted"
NESTED: Final = "an archive in an archive is not opened"
PACKED: Final = "it is packed in a way that is not read here"
DAMAGED: Final = "the archive is damaged there"

_ENCRYPTED_FLAGS = 0x41
# What zipfile raises for what no archive says: also of a directory that ends early, and of broken names.
_FAULTS = (BadZipFile, zlib.error, struct.error, ValueError, EOFError, NotImplementedError, OverflowError)


def archive_listing(opening: Opening) -> Listing:
    """What the archive holds. It is open only while its directory or one of its members is read.

    Raises:
        InvalidInput: it is no archive, or its directory is damaged or cut off.
        LimitExceeded: it has more members than `MAX_MEMBERS`.
    """
    file = _Bounded(opening)
    with file.opened():
        try:
            archive = ZipFile(file)
        except _FAULTS as error:
            raise InvalidInput("the archive is damaged or not whole") from error
    members = [member for member in archive.infolist() if not member.filename.endswith("/")]
    if len(members) > MAX_MEMBERS:
        raise LimitExceeded(f"an archive to import has at most {MAX_MEMBERS:,} files")
    listing = Listing()
    for member in sorted(members, key=lambda member: member.filename):
        _place(member, partial(_opened, archive, file, member), listing)
    return listing


def _place(member: ZipInfo, opened: Callable[[], AbstractContextManager[Source]], listing: Listing) -> None:
    name = label_of(member.filename, "a file without a name")
    if member.filename.lower().endswith(".zip"):
        listing.skipped.append(Skipped(where=name, why=NESTED))
    elif not member.filename.lower().endswith((".json", ".jsonl")):
        listing.others.append(name)
    elif member.flag_bits & _ENCRYPTED_FLAGS:
        listing.skipped.append(Skipped(where=name, why=ENCRYPTED))
    elif member.compress_type not in (ZIP_STORED, ZIP_DEFLATED):
        listing.skipped.append(Skipped(where=name, why=PACKED))
    else:
        listing.files.append(StoredFile(name, member.file_size, opened, has_checksum=True))


@contextmanager
def _opened(archive: ZipFile, file: "_Bounded", member: ZipInfo) -> Iterator[Source]:
    with file.opened():
        try:
            stream = archive.open(member)
        except _FAULTS as error:
            raise Unreadable(DAMAGED) from error
        with stream:
            yield Unpacked(stream, _FAULTS, DAMAGED)


class _Bounded:
    """A file that zipfile cannot read a huge directory from: it would build all of that in memory.

    It is open only where it is wanted. zipfile seeks before each read, and so reads on in a file opened anew.
    """

    def __init__(self, opening: Opening) -> None:
        self._opening = opening
        self._stream: IO[bytes]

    @contextmanager
    def opened(self) -> Iterator[None]:
        with self._opening() as self._stream:
            yield

    def read(self, size: int = -1, /) -> bytes:
        if size > MAX_READ:
            raise LimitExceeded(f"the directory of an archive to import has at most {MAX_READ:,} bytes")
        return self._stream.read(size)

    def seek(self, offset: int, whence: int = 0, /) -> int:
        if offset < 0 and not whence:
            raise BadZipFile("a place before the beginning")
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        return self._stream.tell()

    def seekable(self) -> bool:
        return True
