"""Where a command writes: nothing is lost that is there, nothing is left that is not whole."""

import asyncio
import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from stello_graph.errors import InvalidInput
from stello_graph.outfile import is_stream, opened


def write(name: Path | str, *, force: bool = False, text: bytes = b"new") -> None:
    with opened(str(name), force=force) as file:
        file.write(text)


def names(folder: Path) -> set[str]:
    return set(os.listdir(folder))


def test_a_file(tmp_path: Path) -> None:
    """It is there once it is whole, for its owner alone, and replaces another only where asked to."""
    path = tmp_path / "a"
    with opened(str(path), force=False) as file:
        file.write(b"one")
        assert not path.exists()
    assert (path.read_bytes(), path.stat().st_mode & 0o777) == (b"one", 0o600)
    with pytest.raises(InvalidInput, match="is there already: --force replaces it"):
        write(path)
    assert path.read_bytes() == b"one"
    write(path, force=True)
    assert (path.read_bytes(), names(tmp_path)) == (b"new", {"a"})


def test_a_file_that_is_made_meanwhile(tmp_path: Path) -> None:
    """It stays."""
    path = tmp_path / "a"
    writing = opened(str(path), force=False)
    writing.__enter__().write(b"mine")
    path.write_bytes(b"theirs")
    with pytest.raises(InvalidInput, match="is there already"):
        writing.__exit__(None, None, None)
    assert (path.read_bytes(), names(tmp_path)) == (b"theirs", {"a"})


def test_links(tmp_path: Path) -> None:
    """What a link leads to is written, and the link stays, whether there was something or not."""
    (tmp_path / "there").write_bytes(b"old")
    for name in ("there", "nowhere"):
        link = tmp_path / f"to-{name}"
        link.symlink_to(name)
        with pytest.raises(InvalidInput, match="is there already"):
            write(link)
        write(link, force=True)
        assert link.is_symlink()
        assert (tmp_path / name).read_bytes() == b"new"
    assert names(tmp_path) == {"there", "to-there", "nowhere", "to-nowhere"}


@pytest.mark.parametrize("force", [False, True])
def test_what_cannot_be_written(tmp_path: Path, force: bool) -> None:
    """A folder, what lies in none, a device without room: a sentence, and nothing left behind."""
    for name, why in (
        (tmp_path, "is no file"),
        (tmp_path / "none" / "a", "cannot be written: No such file or directory"),
        ("/dev/full", "/dev/full cannot be written: No space left on device"),
    ):
        with pytest.raises(InvalidInput, match=why):
            write(name, force=force)
    assert names(tmp_path) == set()


def test_streams(tmp_path: Path) -> None:
    """A pipe and a device are written to as they are, and stay what they are."""
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write(pipe)
    reader.join()
    write("/dev/null", force=True)

    assert found == [b"new"]
    assert pipe.is_fifo()
    assert Path("/dev/null").is_char_device()
    assert all(map(is_stream, ("-", str(pipe), "/dev/null")))
    assert not any(map(is_stream, (str(tmp_path), str(tmp_path / "a"))))


def test_a_pipe_that_nobody_reads(tmp_path: Path) -> None:
    """It is no sentence: who reads has had enough."""
    reading, writing = os.pipe()
    os.close(reading)
    with pytest.raises(BrokenPipeError):
        write(f"/dev/fd/{writing}", text=b"x" * 100_000)
    os.close(writing)


@pytest.fixture(params=[signal.SIGTERM, signal.SIGHUP])
def stop(request: pytest.FixtureRequest) -> Iterator[signal.Signals]:
    """A signal that ends the program, whatever who runs the tests does with it."""
    before = signal.signal(request.param, signal.SIG_DFL)
    yield request.param
    signal.signal(request.param, before)


def test_ended_by_a_signal(tmp_path: Path, stop: signal.Signals) -> None:
    """Nothing is left behind, also where work runs in a loop; afterwards signals do what they did."""

    async def work() -> None:
        os.kill(os.getpid(), stop)
        await asyncio.sleep(5)

    start = time.monotonic()
    with pytest.raises(SystemExit) as ended, opened(str(tmp_path / "a"), force=False):
        asyncio.run(work())

    assert ended.value.code == 128 + stop
    assert names(tmp_path) == set()
    assert signal.getsignal(stop) == signal.SIG_DFL
    assert time.monotonic() - start < 5
