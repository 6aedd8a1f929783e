"""Archives: read as what was put into them, and refused or told where they are not what they say."""

import io
from pathlib import Path
from types import ModuleType
from zipfile import ZIP_BZIP2, ZipFile

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stello_graph.errors import InvalidInput, LimitExceeded
from stello_graph.interchange import archive, intake
from stello_graph.interchange.archive import DAMAGED, ENCRYPTED, NESTED, PACKED
from stello_graph.interchange.detect import NO_EXPORT, Format
from stello_graph.interchange.plan import ImportedConversation, Skipped
from tests.unit.interchange.archives import (
    encrypted,
    export,
    ids,
    intake_of,
    left_out,
    not_looked_at,
    of_size,
    patched,
    read,
    read_paths,
    with_checksum,
    zipped,
)
from tests.unit.interchange.claude_exports import FIXTURES as CLAUDE
from tests.unit.interchange.exports import FIXTURES, texts
from tests.unit.interchange.threads import FOLDER

SPLIT = {
    "conversations-001.json": export("c", "d"),
    "conversations-000.json": export("a", "b"),
    "chat.html": b"<html>",
    "user.json": b'{"id": "u", "chat_mode": 1}',
    "export_manifest.json": b'{"files": ["conversations-000.json"]}',
    "images/file-1.png": b"\x89PNG",
}
ARCHIVE = zipped(SPLIT)


def test_a_split_export(tmp_path: Path) -> None:
    """By the order of the names, whatever the archive's; what is no export is one line. The same unpacked,
    and when the files are named one by one.
    """
    found = read(ARCHIVE)

    assert ids(found) == ["chatgpt:a", "chatgpt:b", "chatgpt:c", "chatgpt:d"]
    where = [each.where for each in found if isinstance(each, ImportedConversation)]
    assert where[2] == 'conversations-001.json, conversation 1 "T"'
    others = left_out(found), not_looked_at(found)
    assert others == (
        {"export_manifest.json": NO_EXPORT, "user.json": NO_EXPORT},
        ["chat.html", "images/file-1.png"],
    )
    with ZipFile(io.BytesIO(ARCHIVE)) as unpacking:
        unpacking.extractall(tmp_path)
    unpacked = read_paths(tmp_path)
    named = read_paths(*(tmp_path / f"conversations-00{number}.json" for number in (0, 1)))
    for other in (unpacked, named):
        assert [each.tree.id for each in other if isinstance(each, ImportedConversation)] == ids(found)
    assert (left_out(unpacked), not_looked_at(unpacked)) == others
    assert left_out(named) == {}


def test_a_member_without_a_name() -> None:
    """Its one letter is made an extra field, and a comment in the directory."""
    file = patched(zipped({"a.json": export("a"), "Q": b""}), "Q", local=28, central=32, form="<H", value=1)

    found = read(patched(file, "Q", local=26, central=28, form="<H", value=0))

    assert (ids(found), left_out(found)) == (["chatgpt:a"], {})
    assert not_looked_at(found) == ["a file without a name"]


def test_exports_of_all_products_in_folders() -> None:
    """Found out by what is in them, whatever their names; what is wrong in one is told with its name."""
    files = {
        "gpt/Damaged.JSON": (FIXTURES / "damaged.json").read_bytes(),
        "claude/data.json": (CLAUDE / "branches.json").read_bytes(),
        "claude/projects/p.json": b'{"uuid": "p", "docs": [{"chat": 1}]}',
        "web/chats.json": (FOLDER / "openwebui" / "chats.json").read_bytes(),
        "libre/flat.json": (FOLDER / "librechat" / "flat.json").read_bytes(),
    }
    found = read(zipped(files))

    assert {id.partition(":")[0] for id in ids(found)} == {"chatgpt", "claude", "openwebui", "librechat"}
    told = left_out(found)
    assert told["gpt/Damaged.JSON, entry 2"] == "not a JSON object"
    assert told["claude/projects/p.json"] == NO_EXPORT
    repaired = [one for each in found if isinstance(each, ImportedConversation) for one in each.repaired]
    assert all(" conversation " in each.where and ".json, " in each.where.lower() for each in repaired)
    assert {id.partition(":")[0] for id in ids(read(zipped(files), Format.CLAUDE))} == {"claude"}
    with pytest.raises(InvalidInput, match="no file in it is an export of the format claude"):
        intake_of(ARCHIVE, Format.CLAUDE)


def test_a_folder_of_archives_is_none(tmp_path: Path) -> None:
    """Files that are named are read, archives among them; what is unknown among several is told."""
    (tmp_path / "one.zip").write_bytes(zipped({"conversations.json": export("a")}))
    (tmp_path / "two.json").write_bytes(export("b"))
    (tmp_path / "diary.txt").write_bytes(b"Dear diary")
    one, two, diary = (tmp_path / name for name in ("one.zip", "two.json", "diary.txt"))

    found = read_paths(one, two, diary)
    assert ids(found) == ["chatgpt:a", "chatgpt:b"]
    assert left_out(found) == {str(diary): NO_EXPORT}
    assert [each.where for each in found if isinstance(each, ImportedConversation)] == [
        f'{one}/conversations.json, conversation 1 "T"',
        f'{two}, conversation 1 "T"',
    ]
    with pytest.raises(InvalidInput, match="known formats"):
        read_paths(diary)
    with pytest.raises(LimitExceeded):
        read_paths(one, two, max_bytes=len(export("a", "b")) - 1)
    two.unlink()
    with pytest.raises(InvalidInput, match="known formats"):
        read_paths(tmp_path)


def test_members_that_are_not_read() -> None:
    """Each is told with its reason, and the others are read. A checksum counts, no size that is said."""
    inner = zipped({"conversations.json": export("x")})
    names = {f"{name}.json": export(name) for name in ("fine", "secret", "sum", "short", "long")}
    file = zipped({**names, "inner.zip": inner, "a/": b"", "inner.json": inner})
    file = with_checksum(encrypted(file, "secret.json"), "sum.json", 7)
    file = of_size(of_size(file, "short.json", 10), "long.json", 10_000)

    found = read(file)
    assert ids(found) == ["chatgpt:fine", "chatgpt:long"]
    told = left_out(found)
    assert (told["secret.json"], told["inner.zip"]) == (ENCRYPTED, NESTED)
    assert told["sum.json"] == told["short.json"] == DAMAGED
    assert told["inner.json"] == NO_EXPORT
    with pytest.raises(InvalidInput, match=f"secret.json: {ENCRYPTED}"):
        intake_of(encrypted(zipped({"secret.json": export("a")}), "secret.json"))
    with pytest.raises(InvalidInput, match=f"packed.json: {PACKED}"):
        intake_of(zipped({"packed.json": export("a")}, ZIP_BZIP2))


def test_what_unpacks_to_too_much() -> None:
    """Refused before anything is read, by what the directory says; what says less than it has ends there."""
    bomb = zipped({f"conversations-{number}.json": b"[" + b" " * 1_000_000 for number in range(10)})
    assert len(bomb) < 20_000
    with pytest.raises(LimitExceeded, match="at most 9999999 bytes"):
        intake_of(bomb, max_bytes=9_999_999)

    liar = of_size(zipped({"a.json": export("a") + b" " * 10_000_000}), "a.json", len(export("a")))
    with pytest.raises(InvalidInput, match=DAMAGED):
        intake_of(liar, max_bytes=100_000)


@pytest.mark.parametrize(
    ("where", "limit", "most"),
    [(archive, "MAX_MEMBERS", 5), (archive, "MAX_READ", 200), (intake, "MAX_FILES", 3)],
)
def test_more_than_may_be_in_an_archive(
    monkeypatch: pytest.MonkeyPatch, where: ModuleType, limit: str, most: int
) -> None:
    """Members, bytes of the directory, which names them all, and files that have to be looked at."""
    monkeypatch.setattr(where, limit, most)
    with pytest.raises(LimitExceeded, match=f"at most {most}"):
        intake_of(ARCHIVE)


@pytest.mark.parametrize(
    "file",
    [
        zipped({}),
        zipped({"a.txt": b""}),
        ARCHIVE[:-30],
        ARCHIVE[:200],
        b"PK\x03\x04",
        zipped({"a/b.json": b"[]"}),
    ],
)
def test_nothing_to_import(file: bytes) -> None:
    with pytest.raises(InvalidInput):
        intake_of(file)


def test_how_far_it_is() -> None:
    """Counted in bytes of the exports alone, told after each read; it can be ended in the middle."""
    counted = intake_of(ARCHIVE)
    told: list[int] = []
    counted.on_read = told.append
    assert counted.size == len(export("a", "b")) + len(export("c", "d"))
    items = counted.read(1_000_000)
    next(items)
    assert 0 < counted.at < counted.size
    assert ids(list(items)) == ["chatgpt:b", "chatgpt:c", "chatgpt:d"]
    assert counted.at == counted.size == told[-1] == max(told)

    ended = intake_of(ARCHIVE)
    items = ended.read(1_000_000)
    next(items)
    ended.end()
    assert "chatgpt:c" not in ids(list(items))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, len(ARCHIVE) - 1), st.binary(max_size=4)), max_size=6),
    st.integers(0, 80),
    st.binary(max_size=30),
)
@example([], 0, b"")
def test_no_archive_makes_it_fail(changes: list[tuple[int, bytes]], missing: int, more: bytes) -> None:
    """Some bytes are others, the end is missing or followed by more: it is refused with a reason, or what
    comes is as it was put in.
    """
    file = bytearray(ARCHIVE)
    for place, changed in changes:
        file[place : place + len(changed)] = changed
    try:
        found = read(bytes(file[: len(file) - missing]) + more)
    except (InvalidInput, LimitExceeded):
        return
    assert not [each for each in found if isinstance(each, Skipped) and "fault" in each.why]
    for each in found:
        if isinstance(each, ImportedConversation):
            id = each.id.removeprefix("chatgpt:")
            assert id in "abcd"
            assert texts(each.sessions[0]) == [f"question {id}1", f"answer {id}2"]
