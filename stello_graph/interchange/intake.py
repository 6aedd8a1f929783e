"""All that one import reads: a file, an archive, a folder, or several of them."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import partial
from io import IOBase
from pathlib import Path
from tempfile import TemporaryFile
from typing import IO, BinaryIO, Final, Self, cast

from stello_graph.errors import InvalidInput, LimitExceeded
from stello_graph.interchange import chatgpt, claude, librechat, openwebui
from stello_graph.interchange.detect import CUT_OFF, EMPTY, HEAD_SIZE, NO_EXPORT, Format, detect
from stello_graph.interchange.jsonl.reading import check_header
from stello_graph.interchange.jsonstream import CHUNK, Source
from stello_graph.interchange.listing import Listing, StoredFile, Unreadable, naming, too_large
from stello_graph.interchange.opening import from_its_start, listing_at, listing_of, shown
from stello_graph.interchange.plan import ImportedConversation, NotLookedAt, Skipped

__all__ = ["MAX_FILES", "NOT_OWN", "OTHERS", "Intake"]

MAX_FILES: Final = 5_000

OTHERS: Final = "neither .json nor .jsonl"
NOT_OWN: Final = "only what stello-graph itself exported can be given new ids"

_READERS: Final = {
    Format.CHATGPT: chatgpt.read,
    Format.CLAUDE: claude.read,
    Format.OPENWEBUI: openwebui.read,
    Format.LIBRECHAT: librechat.read,
}
_SHOWN: Final = 3

Found = ImportedConversation | Skipped | NotLookedAt


@dataclass(frozen=True, slots=True)
class _Export:
    file: StoredFile
    format: Format


class Intake:
    """What is to be read, and how far that has come.

    Attributes:
        size: how many bytes there are to read.
        at: how many were read.
        on_read: told `at` after each read, in the thread that reads.
        is_ended: whether nothing more is to be read.
    """

    def __init__(self, listing: Listing, format: Format | None, max_bytes: int) -> None:
        """Chooses the exports among the files of `listing`. One whose checksum is wrong is left out whole.

        Args:
            format: of a file that a person has named; of others only those of it are taken. None finds
                out by its beginning which format a file has.
            max_bytes: for all files together, unpacked.

        Raises:
            InvalidInput: there is no export, or an own one of a version that is not known.
            LimitExceeded: there is more than `max_bytes`, or more files than `MAX_FILES`.
        """
        if len(listing.files) > MAX_FILES:
            raise LimitExceeded(
                f"what is imported at once has at most {MAX_FILES:,} files that may be exports"
            )
        if sum(file.size for file in listing.files) > max_bytes:
            raise LimitExceeded(too_large(max_bytes))
        self._exports: list[_Export] = []
        self._left_out = [*listing.skipped]
        self._not_looked_at = sorted(listing.others)
        no_exports: list[Skipped] = []
        for file in listing.files:
            try:
                self._exports.append(_Export(file, _format_of(file, format)))
            except Unreadable as error:
                self._left_out.append(Skipped(where=file.name, why=str(error)))
            except InvalidInput as error:
                if file.is_loose and len(listing.files) == 1:
                    raise InvalidInput(_none(error.message)) from error
                no_exports.append(Skipped(where=file.name, why=error.message))
        if not self._exports:
            told = [each for each in no_exports if each.why in (EMPTY, CUT_OFF)]
            raise InvalidInput(_nothing_in([*self._left_out, *told], format))
        self._left_out += no_exports
        self._own = [export for export in self._exports if export.format is Format.JSONL]
        self._others = [export for export in self._exports if export.format is not Format.JSONL]
        for export in self._own:
            with naming(export.file.name), export.file.open() as stream:
                check_header(_head(stream).partition(b"\n")[0])
        self.size = sum(export.file.size for export in self._exports)
        self.at = self._before = 0
        self.on_read: Callable[[int], object] = lambda at: None
        self.is_ended = False

    @classmethod
    def of_stream(cls, stream: BinaryIO, format: Format | None = None, *, max_bytes: int) -> Self:
        """Of a file, packed by gzip or not, or an archive, which is seekable and stays open.

        Raises as the constructor, and:
            InvalidInput: the file has no known format, or is packed and damaged.
        """
        return cls(listing_of(partial(from_its_start, stream), max_bytes), format, max_bytes)

    @classmethod
    @contextmanager
    def of_paths(cls, paths: list[Path], format: Format | None = None, *, max_bytes: int) -> Iterator[Self]:
        """Of files, archives and folders, open meanwhile. Raises as `of_stream`, with the name of the file.

        Args:
            paths: one that is `-` is the standard input.
        """
        whole = Listing()
        with ExitStack() as opened:
            for path in paths:
                with naming(shown(path)):
                    whole.take(listing_at(path, opened, max_bytes), "" if len(paths) == 1 else shown(path))
            with naming(shown(paths[0]) if len(paths) == 1 else ""):
                intake = cls(whole, format, max_bytes)
            yield intake

    def read(self, max_object: int) -> Iterator[Found]:
        """All conversations, one after another, and what is left out.

        Args:
            max_object: how many bytes of JSON a conversation may have; a larger one is skipped.
        """
        for export in self._others:
            name = export.file.name
            try:
                with export.file.open() as stream:
                    for found in _READERS[export.format](_Counted(self, stream), max_object):
                        yield found.inside(name)
            except Unreadable as error:
                yield Skipped(where=name, why=str(error))
            if self.is_ended:
                return
        yield from self._left_out
        yield from (NotLookedAt(where=name, why=OTHERS) for name in self._not_looked_at)

    @property
    def own_count(self) -> int:
        """How many own exports there are, which `read` does not read."""
        return len(self._own)

    def check_own(self) -> None:
        """Raises InvalidInput where there is anything else, which cannot be given new ids."""
        if self._others:
            raise InvalidInput(NOT_OWN)

    def open_own(self, number: int, opened: ExitStack) -> tuple[str, IO[bytes]]:
        """The name of an own export, and the file itself, seekable; unpacked where it is not."""
        file = self._own[number].file
        source = opened.enter_context(file.open())
        self._before = sum(export.file.size for export in self._own[:number])
        if isinstance(source, IOBase) and source.seekable():
            return file.name, cast(IO[bytes], source)
        unpacked = TemporaryFile()  # noqa: SIM115
        opened.callback(unpacked.close)
        while piece := source.read(CHUNK):
            unpacked.write(piece)
        return file.name, unpacked

    def read_own(self, at: int) -> None:
        """Notes how far the own export is read that was opened last."""
        self.at = self._before + at
        self.on_read(self.at)

    def end(self) -> None:
        """No read after this one brings anything, also of a long piece that somebody is reading."""
        self.is_ended = True


class _Counted:
    def __init__(self, intake: Intake, stream: Source) -> None:
        self._intake = intake
        self._stream = stream

    def read(self, size: int, /) -> bytes:
        data = b"" if self._intake.is_ended else self._stream.read(size)
        self._intake.at += len(data)
        self._intake.on_read(self._intake.at)
        return data


def _format_of(file: StoredFile, asked: Format | None) -> Format:
    if file.is_loose and asked is not None:
        return asked
    with file.open() as stream:
        found = detect(_head(stream))
        while file.has_checksum and stream.read(CHUNK):
            continue
    if asked not in (None, found):
        raise InvalidInput(f"this is a file of {found}")
    return found


def _head(stream: Source) -> bytes:
    """A source may give less at once than is asked for."""
    head = b""
    while len(head) < HEAD_SIZE and (more := stream.read(HEAD_SIZE - len(head))):
        head += more
    return head


def _none(why: str) -> str:
    return f"{why}; known formats: {', '.join(Format)}" if why == NO_EXPORT else why


def _nothing_in(left_out: list[Skipped], asked: Format | None) -> str:
    if left_out:
        reasons = "; ".join(f"{each.where}: {each.why}" for each in left_out[:_SHOWN])
        return f"no file in it can be imported: {reasons}"
    if asked is not None:
        return f"no file in it is an export of the format {asked}"
    return f"no file in it can be imported; known formats: {', '.join(Format)}"
