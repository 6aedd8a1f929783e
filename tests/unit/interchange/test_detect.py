import json
import time
from pathlib import Path

import pytest

from stello_graph.errors import InvalidInput
from stello_graph.interchange.detect import HEAD_SIZE, MAX_TOKENS, NO_EXPORT, Format, detect
from tests.unit.interchange.claude_exports import FIXTURES as CLAUDE
from tests.unit.interchange.exports import FIXTURES, chain, user
from tests.unit.interchange.threads import FOLDER


@pytest.mark.parametrize("path", sorted(FIXTURES.glob("*.json")), ids=lambda path: path.stem)
def test_exports_of_chatgpt(path: object) -> None:
    assert detect((FIXTURES / str(path)).read_bytes()) is Format.CHATGPT


@pytest.mark.parametrize("path", sorted(CLAUDE.glob("*.json")), ids=lambda path: path.stem)
def test_exports_of_claude(path: Path) -> None:
    assert detect(path.read_bytes()) is Format.CLAUDE


@pytest.mark.parametrize("path", sorted(FOLDER.glob("[lo]*/*.json")), ids=lambda path: path.stem)
def test_exports_of_others(path: Path) -> None:
    assert detect(path.read_bytes()) == path.parent.name


def test_the_beginning_is_enough() -> None:
    data = json.dumps([{"note": '{"'}, chain(user("u", "日本"), title='"[{')]).encode()

    assert detect(b"\xef\xbb\xbf" + data[: data.index(b"mapping") + 60]) == "chatgpt"


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"mapping",
        b'"mapping": {}',
        b'["mapping"]',
        b'{"a": {"mapping": {}}}',
        b'[{"uuid": "x", "name": "", "messages": [{"chat_messages": []}]}]',
        b"\xff\xfe[\x00{\x00",
        b"PK\x03\x04",
    ],
)
def test_other_files(data: bytes) -> None:
    with pytest.raises(InvalidInput, match=f"^{NO_EXPORT}$"):
        detect(data)


def test_a_beginning_of_many_things_is_no_export() -> None:
    """Long strings are one thing each, so that no export is beyond what is looked at."""
    assert detect(json.dumps([{"title": "x" * 500_000, "mapping": {}}]).encode()) == "chatgpt"
    with pytest.raises(InvalidInput):
        detect(json.dumps([[]] * MAX_TOKENS + [{"mapping": {}}]).encode())


@pytest.mark.parametrize("piece", [b'\\"', b"[", b'"', b'{"', b"\\"])
def test_no_head_takes_long(piece: bytes) -> None:
    begin = time.process_time()
    for start in (b'[{"', b""):
        with pytest.raises(InvalidInput):
            detect(start + piece * (HEAD_SIZE // 4 // len(piece)))

    assert time.process_time() - begin < 10
