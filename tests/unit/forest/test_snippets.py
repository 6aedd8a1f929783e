"""Snippets: short, plain, and around what was asked for."""

import re
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from stello_graph.forest.snippets import MAX_SNIPPET, snippet
from stello_graph.model.search import parse_query

FILLER = "Lorem ipsum dolor sit amet consectetur. "


def of(text: str, query: str) -> str:
    return snippet(text, parse_query(query))


def test_a_short_text_is_its_own_snippet() -> None:
    assert of("The quick brown fox", "fox") == "The quick brown fox"
    assert of("  北京大学  ", "大学") == "北京大学"


@pytest.mark.parametrize(
    ("planted", "query"),
    [
        ("needle", "needle"),
        ("NEEDLE", "needle"),
        ("Ça et lÀ", "là"),
        ("Straße", "strasse"),
        ("ＷＩＤＥ", "wide"),
        ("e-mail", "e-mail"),
        ("needles", "needle*"),
        ("図書館", "書館"),
        ("館", "館"),
        ("カ\u3099ラス", "ガラス"),
        ("ﾊﾟﾝ", "パン"),
        ("🚀", "🚀"),
        ("图书馆Open", "open"),
        ("second first", "first second"),
    ],
)
def test_the_place_is_shown(planted: str, query: str) -> None:
    """What was asked for stands in the snippet, with some of what is before and after it."""
    text = FILLER * 20 + planted + " " + FILLER * 20

    shown = of(text, query)

    assert planted in shown
    assert shown.startswith("…")
    assert shown.endswith("…")
    assert len(shown) <= MAX_SNIPPET
    before, after = shown.split(planted)
    assert len(before) > 20
    assert len(after) > 50


def test_the_beginning_where_the_place_is_not_known() -> None:
    """Where the words stand apart from how they were asked for, the beginning is shown."""
    assert of(FILLER * 10, "nowhere").startswith("Lorem ipsum")


def test_one_plain_line() -> None:
    """Blanks are one space, control characters and marks of direction go."""
    assert of("one\n\n\ttwo\x07\x1b[31m \u202ethree\x00", "two") == "one two[31m three"
    assert of("\n" * 5_000 + "deep", "deep") == "…deep"


def test_characters_stay_whole() -> None:
    """Nothing is cut between a character and what belongs to it."""
    text = "👍🏽e\u0301" * 500 + " fox " + "👍🏽e\u0301" * 500
    shown = of(text, "fox")
    assert "fox" in shown
    inner = shown.strip("…").replace(" fox ", "")
    assert re.fullmatch("(?:👍🏽|e\u0301)*", inner), inner


@given(st.text(), st.text(max_size=30))
def test_any_text(text: str, query: str) -> None:
    """Whatever the text, a snippet is short and holds no control characters."""
    shown = snippet(text, parse_query(f"x{query}"))
    assert len(shown) <= MAX_SNIPPET
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in shown)


def test_many_words_in_long_texts() -> None:
    """A long query over a long text is answered, with its place where it is one of the first words."""
    query = " ".join(f"w{n}" for n in range(200))
    assert "w3" in of(FILLER * 2_000 + "w3 " + FILLER * 100, query)
