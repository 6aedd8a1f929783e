import io
import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from stello_graph.interchange import jsonstream
from stello_graph.interchange.jsonstream import Broken, objects

NOT_AN_OBJECT = Broken("not a JSON object")
CUT_OFF = Broken("the file ends in the middle of it")


def found(data: bytes) -> list[dict[str, Any] | Broken]:
    return list(objects(io.BytesIO(data)))


@pytest.mark.parametrize("chunk", [1, 2, 3, 7, 1 << 18])
@pytest.mark.parametrize(
    ("data", "expected"),
    [
        (b'[{"a": 1}, {"b": [2, {}]}]', [{"a": 1}, {"b": [2, {}]}]),
        (b'{"a": 1}', [{"a": 1}]),
        (b'{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        (b'\xef\xbb\xbf[{"a": 1}]', [{"a": 1}]),
        (rb'[{"]}\\": "{[\"\\\\"}, {}]', [{"]}\\": '{["\\\\'}, {}]),
        (rb'[{"a": "\ud83d\ude00 \ud800"}]', [{"a": "😀 \ud800"}]),
        (b'[{"a": "\xff"}]', [{"a": "\udcff"}]),
        (b'[{"a": "line\nbreak"}]', [{"a": "line\nbreak"}]),
        (
            b'[{"a": 12345678901234567890123, "b": "\\ud800"}]',
            [{"a": 12345678901234567890123, "b": "\ud800"}],
        ),
        (b'[{"a": 1e400}]', [{"a": float("inf")}]),
        (b'[{"a": ' + b"9" * 5_000 + b'}, {"b": 1}]', [{"a": float("inf")}, {"b": 1}]),
        (b'[{"a": nope}, {"b": 1}]', [Broken("not legal JSON"), {"b": 1}]),
        (b'[{"a": [}}, {"b": 1}]', [Broken("not legal JSON"), {"b": 1}]),
        (b'[{"a": [}, {"b": 1}]', [Broken("not legal JSON"), CUT_OFF]),
        (b'[null, {"b": 1}, "x]", 3]', [NOT_AN_OBJECT, {"b": 1}, NOT_AN_OBJECT]),
        (b'[[1], {"b": 1}]', [NOT_AN_OBJECT, {"b": 1}]),
        (b'[{"b": 1}] and more', [{"b": 1}, NOT_AN_OBJECT]),
        (b']}[{"b": 1}]', [NOT_AN_OBJECT, {"b": 1}]),
        (b'[{"b": 1}, {"c": ', [{"b": 1}, CUT_OFF]),
        (b'[{"b": 1}, {"c": "d', [{"b": 1}, CUT_OFF]),
        (b'[{"b": 1}', [{"b": 1}, CUT_OFF]),
        (b"hello", [NOT_AN_OBJECT]),
        (b'"hello', [CUT_OFF]),
        (b"", [Broken("the file is empty")]),
        (b" \n", [Broken("the file is empty")]),
        (b"[]", []),
    ],
)
def test_objects(data: bytes, expected: list[Any], chunk: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonstream, "CHUNK", chunk)

    assert found(data) == expected


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
UNHURRIED = settings(max_examples=60, deadline=None)


@UNHURRIED
@example([{"": [-(2**63) - 1, -(2**63), 2**64 - 1, 2**64, 10**40]}], True, 7)
@given(st.lists(st.dictionaries(st.text(), JSON, max_size=3), max_size=4), st.booleans(), st.integers(1, 40))
def test_whatever_is_json_comes_whole(values: list[Any], ascii: bool, chunk: int) -> None:
    data = json.dumps(values, ensure_ascii=ascii, indent=1 if chunk % 2 else None).encode()

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(jsonstream, "CHUNK", chunk)
        assert found(data) == values


@given(
    st.binary() | st.lists(st.sampled_from([b"[", b"]", b"{", b"}", b'"', b"\\", b",", b"1"])).map(b"".join)
)
def test_no_bytes_make_it_fail(data: bytes) -> None:
    for each in objects(io.BytesIO(data)):
        assert isinstance(each, dict | Broken)


def test_what_is_nested_too_deeply_costs_itself_only() -> None:
    deep = b'{"a": ' + b"[" * 100_000 + b"]" * 100_000 + b"}"

    assert found(b"[" + deep + b', {"b": 1}]') == [Broken("nested too deeply"), {"b": 1}]


def test_a_flood_of_brackets_ends_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonstream, "MAX_DEPTH", 10)

    flood = found(b'[{"b": 1}, {"a": ' + b"[" * 100)

    assert flood == [{"b": 1}, Broken("nested too deeply: the rest of the file is not read")]


def test_an_object_that_is_too_large_is_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(jsonstream, "CHUNK", 1_000)

    data = b'[{"a": 1}, {"a": "' + b"x" * (1 << 20) + b'"}, {"b": 1}]'
    assert list(objects(io.BytesIO(data), max_object=1 << 20)) == [
        {"a": 1},
        Broken("larger than 1 MiB"),
        {"b": 1},
    ]
