"""Where a command writes: a file that is there once it is whole, or what takes bytes as they come."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from types import FrameType
from typing import IO

from stello_graph.errors import InvalidInput
from stello_graph.ids import new_id

__all__ = ["is_stream", "opened"]


def is_stream(name: str) -> bool:
    """Whether a name is the one of the standard output (`-`), of a pipe, or of a device like /dev/null."""
    path = Path(name)
    return name == "-" or path.is_fifo() or path.is_char_device()


@contextmanager
def opened(name: str, *, force: bool) -> Iterator[IO[bytes]]:
    """What is written to, for its owner alone. A file that is not whole is not there.

    Args:
        name: a link leads to what is written; a stream is written to as it is.
        force: replaces a file that is there.

    Raises:
        InvalidInput: it is there already, or cannot be written.
        BrokenPipeError: nobody reads it any more.
    """
    try:
        with _opened(name, force) as file:
            yield file
    except BrokenPipeError:
        raise
    except OSError as error:
        shown = "the standard output" if name == "-" else name
        raise InvalidInput(f"{shown} cannot be written: {error.strerror}") from error


def _opened(name: str, force: bool) -> AbstractContextManager[IO[bytes]]:
    if name == "-":
        return open(sys.stdout.fileno(), "wb", closefd=False)
    path = Path(name)
    if is_stream(name):
        return path.open("wb")
    if path.exists() and not path.is_file():
        raise InvalidInput(f"{path} is no file")
    if os.path.lexists(path) and not force:
        raise _there(path)
    return _made_whole(Path(os.path.realpath(path)), force)


@contextmanager
def _made_whole(path: Path, force: bool) -> Iterator[IO[bytes]]:
    part = path.with_name(f".{new_id()}.part")
    with _ended_in_order():
        try:
            with open(part, "xb", opener=lambda name, flags: os.open(name, flags, 0o600)) as file:
                yield file
                file.flush()
                os.fsync(file.fileno())
            if not force:
                _take(path)
            os.replace(part, path)
        except BaseException:
            part.unlink(missing_ok=True)
            raise


def _take(path: Path) -> None:
    """Makes an empty file, unless somebody has made one meanwhile."""
    try:
        path.touch(0o600, exist_ok=False)
    except FileExistsError:
        raise _there(path) from None


@contextmanager
def _ended_in_order() -> Iterator[None]:
    """A signal that ends the program is an exception meanwhile, so that nothing is left behind."""

    def end(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    stops = [stop for stop in (signal.SIGTERM, signal.SIGHUP) if signal.getsignal(stop) == signal.SIG_DFL]
    for stop in stops:
        signal.signal(stop, end)
    try:
        yield
    finally:
        for stop in stops:
            signal.signal(stop, signal.SIG_DFL)


def _there(path: Path) -> InvalidInput:
    return InvalidInput(f"{path} is there already: --force replaces it")
