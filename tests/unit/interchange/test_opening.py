"""What a person names: packed by gzip, through a pipe, and why a file is refused."""

import errno
import gzip
import io
import os
import resource
import tracemalloc
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from stello_graph.errors import InvalidInput, LimitExceeded
from stello_graph.interchange.detect import CUT_OFF, EMPTY, NO_EXPORT
from stello_graph.interchange.folder import DANGLING, LINK, NO_FILE
from stello_graph.interchange.gzipped import DAMAGED, TWICE
from stello_graph.interchange.intake import Intake
from tests.unit.interchange.archives import MANY, export, ids, intake_of, left_out, read, read_paths, zipped

HEADER = b'{"format":"stello-graph","version":1}\n'
# Without the time: workers have to collect the same tests.
PACKED = gzip.compress(export("a", "b"), mtime=0)


def test_a_file_that_is_packed_by_gzip(tmp_path: Path) -> None:
    """It is read as it was, alone or among others, in one member or several; an own one can be sought in."""
    assert ids(read(PACKED)) == ["chatgpt:a", "chatgpt:b"]
    assert ids(read(gzip.compress(b"[") + gzip.compress(export("a")[1:]))) == ["chatgpt:a"]
    for name, content in (("a.json.gz", PACKED), ("c.json", export("c")), ("d.zip", zipped({"d.txt": b"d"}))):
        (tmp_path / name).write_bytes(content)
    assert ids(read_paths(tmp_path / "a.json.gz", tmp_path / "c.json")) == [
        "chatgpt:a",
        "chatgpt:b",
        "chatgpt:c",
    ]
    lines = HEADER + b'{"kind":"session","id":"s"}\n' * 9
    own = intake_of(gzip.compress(lines))
    assert (own.own_count, own.size) == (1, len(lines))
    with ExitStack() as opened:
        _, stream = own.open_own(0, opened)
        stream.seek(len(HEADER))
        assert stream.readline() == lines.splitlines(keepends=True)[1]


def test_what_unpacks_to_too_much() -> None:
    """Refused as soon as it is, in little memory."""
    bomb = gzip.compress(b"[" + b" " * 50_000_000)
    tracemalloc.start()
    with pytest.raises(LimitExceeded, match="at most 40000000 bytes, unpacked"):
        intake_of(bomb, max_bytes=40_000_000)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4_000_000


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b"", EMPTY),
        (b"\xef\xbb\xbf \r\n", EMPTY),
        (gzip.compress(b"", mtime=0), EMPTY),
        (b'[{"ti', CUT_OFF),
        (b'[{"title": "x"}, {', CUT_OFF),
        (b"[", CUT_OFF),
        (b'{"format":"stello-gr', CUT_OFF),
        (PACKED[:-9], DAMAGED),
        (PACKED[:30], DAMAGED),
        (PACKED[:-8] + b"12345678", DAMAGED),
        (PACKED + b"more", DAMAGED),
        (gzip.compress(PACKED, mtime=0), TWICE),
        (gzip.compress(zipped({"conversations.json": export("a")}), mtime=0), TWICE),
        (zipped({"conversations.json": export("a")})[:-30], "the archive is damaged or not whole"),
        (zipped({"conversations.json": b""}), f"no file in it can be imported: conversations.json: {EMPTY}"),
        (b"[12:30] Hello, how are you?", f"{NO_EXPORT}; known formats: chatgpt"),
        (b'[{"title": "x"}]', f"{NO_EXPORT}; known formats: chatgpt"),
        (b'{"format":"stello-graph","version":9}\n', "the file has version 9"),
    ],
)
def test_a_refused_file_is_named_with_why(tmp_path: Path, content: bytes, why: str) -> None:
    """Also as one of several that are refused together."""
    file, other = tmp_path / "file", tmp_path / "other.json"
    file.write_bytes(content)
    with pytest.raises(InvalidInput) as refused:
        read_paths(file)
    assert refused.value.message.startswith(f"{file}: {why}")
    with pytest.raises(InvalidInput, match="cannot be read: No such file or directory"):
        read_paths(other, file)
    if why in (EMPTY, CUT_OFF):
        other.write_bytes(b"{")
        with pytest.raises(InvalidInput) as refused:
            read_paths(file, other)
        assert refused.value.message == f"no file in it can be imported: {file}: {why}; {other}: {CUT_OFF}"
        other.write_bytes(export("a"))
        assert left_out(read_paths(file, other)) == {str(file): why}


def test_the_standard_input(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """It is read like a file, packed or not, up to the same size."""

    def given(content: bytes) -> None:
        monkeypatch.setattr("sys.stdin", SimpleNamespace(buffer=io.BytesIO(content)))

    for content in (PACKED, export("a", "b"), zipped({"conversations.json": export("a", "b")})):
        given(content)
        assert ids(read_paths(Path("-"))) == ["chatgpt:a", "chatgpt:b"]
    given(b"")
    with pytest.raises(InvalidInput, match=f"the standard input: {EMPTY}"):
        read_paths(Path("-"))
    given(export("a"))
    with pytest.raises(LimitExceeded, match="the standard input: what is imported"):
        read_paths(Path("-"), max_bytes=9)
    (tmp_path / "b.json").write_bytes(export("b"))
    given(export("a"))
    with Intake.of_paths([Path("-"), tmp_path / "b.json"], max_bytes=MANY) as both:
        assert ids(list(both.read(MANY))) == ["chatgpt:a", "chatgpt:b"]


def test_more_files_than_a_process_may_have_open(tmp_path: Path) -> None:
    """Also packed ones, and archives: each is open only while it is read."""
    paths = []
    for number in range(30):
        content = {
            "json": export(f"a{number}"),
            "json.gz": gzip.compress(export(f"b{number}")),
            "zip": zipped({"a.json": export(f"c{number}")}),
        }
        for kind, packed in content.items():
            paths.append(tmp_path / f"{number}.{kind}")
            paths[-1].write_bytes(packed)
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(map(int, os.listdir("/dev/fd"))) + 20, hard))
    try:
        found = read_paths(*paths)
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))

    assert len(ids(found)) == len(paths) == 90
    assert left_out(found) == {}


def test_what_a_folder_has_that_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each is told with its reason, and the rest is read."""
    folder = tmp_path / "folder"
    (folder / "closed").mkdir(parents=True)
    (folder / "a.json").write_bytes(export("a"))
    (tmp_path / "other").mkdir()
    (folder / "linked").symlink_to(tmp_path / "other")
    (folder / "lost.json").symlink_to(tmp_path / "lost.json")
    (folder / "round.json").symlink_to(folder / "round.json")
    os.mkfifo(folder / "pipe.json")
    scan = os.scandir

    def scanned(path: str) -> Any:
        if path.endswith("closed"):
            raise PermissionError(errno.EACCES, "Permission denied", path)
        return scan(path)

    monkeypatch.setattr(os, "scandir", scanned)
    found = read_paths(folder)

    assert ids(found) == ["chatgpt:a"]
    assert left_out(found) == {
        "closed": "it cannot be read: Permission denied",
        "linked": LINK,
        "lost.json": DANGLING,
        "pipe.json": NO_FILE,
        "round.json": f"it cannot be read: {os.strerror(errno.ELOOP)}",
    }
