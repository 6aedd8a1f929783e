"""Writes what a reader yields into a Space."""

from collections.abc import Iterator
from typing import BinaryIO

from stello_graph.interchange import chatgpt, claude, librechat, openwebui
from stello_graph.interchange.background import in_thread
from stello_graph.interchange.detect import HEAD_SIZE, Format, detect
from stello_graph.interchange.jsonstream import MAX_OBJECT, Source
from stello_graph.interchange.plan import ImportedConversation, Skipped
from stello_graph.interchange.report import ImportReport
from stello_graph.interchange.writing import write_conversation
from stello_graph.ports import SpaceStore

__all__ = ["import_stream"]

_READERS = {
    Format.CHATGPT: chatgpt.read,
    Format.CLAUDE: claude.read,
    Format.OPENWEBUI: openwebui.read,
    Format.LIBRECHAT: librechat.read,
}


async def import_stream(
    store: SpaceStore,
    stream: BinaryIO,
    *,
    format: Format | None = None,
    report: ImportReport | None = None,
    max_object: int = MAX_OBJECT,
) -> ImportReport:
    """Imports a file, one conversation at a time.

    Args:
        stream: seekable, at its start.
        format: None finds it out by the file's beginning.
        report: what counts while it runs, so that others can look; None makes one.
        max_object: how many bytes of JSON a conversation may have; a larger one is skipped.

    Raises:
        InvalidInput: the file is of no known format.
        NotFound: the Space is gone.
    """
    report = ImportReport() if report is None else report
    ended = _Endable(stream)
    items = _items(stream, ended, format, max_object)
    while (item := await in_thread(next, items, None, stop=ended.end)) is not None:
        report.add(item)
        if isinstance(item, ImportedConversation):
            await write_conversation(store, item, report)
    return report


def _items(
    stream: BinaryIO, source: Source, format: Format | None, max_object: int
) -> Iterator[ImportedConversation | Skipped]:
    if format is None:
        format = detect(stream.read(HEAD_SIZE))
        stream.seek(0)
    return _READERS[format](source, max_object)


class _Endable:
    """A stream that can be ended while somebody is reading a long piece of it."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream
        self._ended = False

    def read(self, size: int, /) -> bytes:
        """Nothing more once it was ended."""
        return b"" if self._ended else self._stream.read(size)

    def end(self) -> None:
        """No read after this one brings anything."""
        self._ended = True
