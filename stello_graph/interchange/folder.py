"""Lists a folder, such as an archive that a person has unpacked."""

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import IO, Final

from stello_graph.interchange.listing import Listing, StoredFile, Unreadable
from stello_graph.interchange.plan import Skipped

__all__ = ["DANGLING", "LINK", "NO_FILE", "folder_listing", "opened_at"]

LINK: Final = "a link to a folder is not followed"
DANGLING: Final = "it is a link that leads nowhere"
NO_FILE: Final = "it is no regular file"


def folder_listing(folder: Path) -> Listing:
    """What the folder and those in it hold. Links to other folders are not followed."""
    listing = Listing()

    def tell(path: str | Path, why: str) -> None:
        listing.skipped.append(Skipped(where=_name(path, folder), why=why))

    found = _paths(folder, lambda error: tell(error.filename, _unread(error)))
    for name, path in sorted((_name(path, folder), path) for path in found):
        try:
            seen = path.stat()
        except OSError as error:
            tell(path, DANGLING if isinstance(error, FileNotFoundError) else _unread(error))
            continue
        if not stat.S_ISREG(seen.st_mode):
            tell(path, LINK if stat.S_ISDIR(seen.st_mode) else NO_FILE)
        elif path.suffix.lower() in (".json", ".jsonl"):
            listing.files.append(StoredFile(name, seen.st_size, partial(opened_at, path)))
        else:
            listing.others.append(name)
    return listing


def _paths(folder: Path, on_error: Callable[[OSError], None]) -> Iterator[Path]:
    """All but the folders that are walked through."""
    for parent, folders, names in os.walk(folder, onerror=on_error):
        links = [name for name in folders if os.path.islink(os.path.join(parent, name))]
        yield from (Path(parent, name) for name in (*names, *links))


@contextmanager
def opened_at(path: Path) -> Iterator[IO[bytes]]:
    """The file, at its beginning. Raises Unreadable."""
    try:
        stream = path.open("rb")
    except OSError as error:
        raise Unreadable(_unread(error)) from error
    with stream:
        yield stream


def _name(path: str | Path, folder: Path) -> str:
    return Path(path).relative_to(folder).as_posix()


def _unread(error: OSError) -> str:
    return f"it cannot be read: {error.strerror}"
