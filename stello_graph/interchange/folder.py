"""Lists a folder, such as an archive that a person has unpacked."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path

from stello_graph.interchange.jsonstream import Source
from stello_graph.interchange.listing import Listing, StoredFile, Unreadable

__all__ = ["folder_listing"]


def folder_listing(folder: Path) -> Listing:
    """What the folder and those in it hold. Links to other folders are not followed."""
    listing = Listing()
    for path in sorted(_files(folder), key=lambda path: path.relative_to(folder).as_posix()):
        name = path.relative_to(folder).as_posix()
        if path.suffix.lower() in (".json", ".jsonl"):
            listing.files.append(StoredFile(name, path.stat().st_size, partial(_opened, path)))
        else:
            listing.others.append(name)
    return listing


def _files(folder: Path) -> Iterator[Path]:
    for parent, _, names in os.walk(folder):
        yield from (path for name in names if (path := Path(parent, name)).is_file())


@contextmanager
def _opened(path: Path) -> Iterator[Source]:
    try:
        stream = path.open("rb")
    except OSError as error:
        raise Unreadable(f"it cannot be read: {error.strerror}") from error
    with stream:
        yield stream
