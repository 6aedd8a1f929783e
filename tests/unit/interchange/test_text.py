from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stello_graph.interchange.text import Cleaner, Unfit, excerpt, label_of
from stello_graph.interchange.times import micros


def test_what_no_store_takes() -> None:
    cleaner = Cleaner()

    assert cleaner.text("日本 🗾\n\t") == "日本 🗾\n\t"
    assert not cleaner.replaced
    assert cleaner.text("a\x00b\ud800c") == "a�b�c"
    assert cleaner.replaced


@pytest.mark.parametrize(
    ("value", "clean"),
    [
        ({"a\x00": ["\udfff", None, True, 1.5]}, {"a�": ["�", None, True, 1.5]}),
        ([2**64 - 1, 2**64, -(2**63)], [2**64 - 1, "18446744073709551616", -(2**63)]),
        ([float("inf"), float("nan")], [None, None]),
    ],
)
def test_values(value: Any, clean: Any) -> None:
    assert Cleaner().value(value) == clean


def test_values_that_are_nested_too_deeply() -> None:
    deep: list[Any] = []
    for _ in range(100):
        deep = [deep]

    with pytest.raises(Unfit, match="nested too deeply"):
        Cleaner().value(deep)


@settings(deadline=None)
@given(st.text(st.characters()))
def test_labels_are_one_clean_line(text: str) -> None:
    label = label_of(text, "default")

    assert 0 < len(label) <= 200
    assert label.isprintable() or not any(ord(each) < 32 or 127 <= ord(each) < 160 for each in label)
    assert label.splitlines() == [label]


def test_excerpts() -> None:
    assert excerpt("one\n two") == "one two"
    assert excerpt("<think>\nhm\n</think> so") == "so"
    assert excerpt("<think>without end") == ""
    assert excerpt("x" * 41) == "x" * 39 + "…"


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (1714585031.148505, 1714585031148505),
        (1714585031, 1714585031000000),
        ("1714585031.25", 1714585031250000),
        ("2024-05-01T17:37:11.25Z", 1714585031250000),
        ("2024-05-01T19:37:11+02:00", 1714585031000000),
        ("2024-05-01 17:37:11", 1714585031000000),
        ("0001-01-01", None),
        ("yesterday", None),
        ("nan", None),
        (float("nan"), None),
        (float("inf"), None),
        (10**400, None),
        (0, None),
        (-1, None),
        (True, None),
        (None, None),
        ([], None),
    ],
)
def test_times(value: Any, expected: int | None) -> None:
    assert micros(value) == expected
