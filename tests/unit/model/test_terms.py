"""Terms: how texts are folded, cut and asked for."""

import unicodedata

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from stello_graph.errors import InvalidInput
from stello_graph.model.search import (
    MAX_BEGINNINGS,
    MAX_PHRASE,
    MAX_QUERY,
    Clause,
    SearchQuery,
    _clauses,
    parse_query,
)
from stello_graph.model.terms import _KINDS, _PLAIN, MAX_INDEXED, MAX_WORD, fold, is_unspaced, runs, terms

HAN = st.text(st.characters(min_codepoint=0x4E00, max_codepoint=0x9FA5), min_size=1, max_size=12)
LETTERS = st.text("abcdefghijklmnopqrstuvwxyz0123456789éßöñ", min_size=1, max_size=10)
WORDS = st.lists(LETTERS, min_size=1, max_size=6)
MIXED = st.text("ab1 -_'\"*.,日本語ガが한국어🚀👍🏽\u0301\u3099\u200d\ufe0f\n\x00", max_size=40)
PLAIN = st.text("aZ9_ \n-'.·—“”…、。「」\u3000，！？：（）ーあがパヴ가힣一龥㐀", max_size=80)


def long_way(run: str) -> list[str]:
    """The terms of a run, as the words say it."""
    if not is_unspaced(run):
        return [run]
    return [run[at : at + 2] for at in range(len(run))]


def found(query: SearchQuery, text: str) -> bool:
    """Whether the terms of a text hold all that is asked for: what a full-text index does."""
    held = terms(text).split(" ")
    return all(_holds(held, clause) for clause in query.clauses)


def _holds(held: list[str], clause: Clause) -> bool:
    if clause.prefix:
        return any(term.startswith(clause.terms[0]) for term in held)
    size = len(clause.terms)
    return any(tuple(held[at : at + size]) == clause.terms for at in range(len(held)))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ""),
        (" \n\t…!?", ""),
        ("Hello, World!", "hello world"),
        ("Don't e-mail v1.2 snake_case", "don t e mail v1 2 snake case"),
        ("北京大学", "北京 京大 大学 学"),
        ("字", "字"),
        ("北京、大学", "北京 京 大学 学"),
        ("用Python写", "用 python 写"),
        ("한국어 검색", "한국 국어 어 검색 색"),
        ("ｶﾞﾗｽ", "ガラ ラス ス"),
        ("か\u3099", "が"),
        ("Straße ÉCOLE İstanbul", "strasse ecole istanbul"),
        ("ﬁne ² ①", "fine 2 1"),
        ("हिन्दी", "हिन्दी"),
        ("🚀🚀 👨‍👩‍👧 ✅", "🚀 🚀 👨 👩 👧 ✅"),
        ("a\u00adb c\u200bd", "ab c d"),
        ("→ ≤ € ©", ""),
        ("ไทย", "ไท ทย ย"),
    ],
)
def test_terms(text: str, expected: str) -> None:
    assert terms(text) == expected


def test_only_so_much_is_indexed() -> None:
    """The first 100,000 characters; of a word 64."""
    assert terms("字" * (MAX_INDEXED + 50)).count(" ") == MAX_INDEXED - 1
    assert terms("x" * 1_000) == "x" * MAX_WORD
    assert terms(" " * MAX_INDEXED + "late") == ""


@given(st.text())
def test_folding_is_settled(text: str) -> None:
    """What is folded folds to itself, and whatever form a text comes in makes the same terms."""
    assert fold(fold(text)) == fold(text)
    for form in ("NFC", "NFD", "NFKC", "NFKD"):
        assert terms(unicodedata.normalize(form, text)) == terms(text)


def test_folding_is_settled_for_each_character() -> None:
    """No character needs to be folded twice, and none becomes a capital."""
    han_and_hangul = {*range(0x3400, 0xA000), *range(0xAC00, 0xE000), *range(0x20000, 0x2F800)}
    for point in (point for point in range(0x2FA20) if point not in han_and_hangul):
        folded = fold(chr(point))
        assert fold(folded) == folded, hex(point)
        assert not any("A" <= character <= "Z" for character in folded), hex(point)


@given(st.text())
def test_terms_hold_nothing_that_an_index_would_split(text: str) -> None:
    """Terms are made of letters, digits, marks and emoji, with single spaces between them."""
    made = terms(text)
    for term in made.split(" ") if made else ():
        assert term
        assert len(term) <= MAX_WORD
        for character in term:
            assert not character.isspace()
            assert character.isalnum() or not character.isascii()
            assert unicodedata.category(character)[0] in "LNMS"
            assert character != "§"


@given(st.text(st.characters(max_codepoint=127)))
def test_the_short_way_of_ascii(text: str) -> None:
    """A text of ASCII has the terms that it has beside other scripts."""
    assert f"{terms(text)} 字".strip() == terms(f"{text} 字")


@given(PLAIN)
def test_the_short_way_of_plain_texts(text: str) -> None:
    """A text of the usual characters has the terms that it has beside one that is not of them."""
    assert terms(f"{text} \u00df") == f"{terms(text)} ss".strip()
    assert terms(text) == " ".join(term for run in runs(fold(text)) for term in long_way(run))


def test_the_short_way_of_each_plain_character() -> None:
    """Whatever stands on both sides of it."""
    for point in range(0x10000):
        character = chr(point)
        if not _PLAIN.fullmatch(character):
            continue
        for text in (f"字{character}字 ", f"aX{character}b 字", f"가{character}が 字"):
            expected = " ".join(term for run in runs(fold(text)) for term in long_way(run))
            assert terms(text) == expected, hex(point)


@given(HAN, st.data())
def test_every_piece_is_found(run: str, data: st.DataObject) -> None:
    """Every piece of a run without spaces finds it, from one character on."""
    start = data.draw(st.integers(0, len(run) - 1))
    end = data.draw(st.integers(start + 1, len(run)))
    assert found(parse_query(run[start:end]), f"前 {run}。")


@given(HAN, HAN)
def test_nothing_else_is_found(run: str, query: str) -> None:
    """What is found in a run of one script is in it."""
    assert found(parse_query(query), run) == (fold(query) in fold(run))


@given(WORDS, st.randoms(use_true_random=False))
def test_words_are_found_in_any_order(words: list[str], random: object) -> None:
    """All words of a query must be there, wherever."""
    text = " ".join(words)
    turned = list(reversed(words))
    assert found(parse_query(" ".join(turned)), text)
    assert not found(parse_query(f"{text} zzzz"), text)


@given(MIXED)
def test_a_text_finds_itself(text: str) -> None:
    """A text is found by itself, or holds nothing that can be searched for."""
    assume(len(text) <= MAX_QUERY)
    if beginnings(text) > MAX_BEGINNINGS:
        with pytest.raises(InvalidInput, match="at most 8"):
            parse_query(text)
    elif terms(text):
        assert found(parse_query(text), text)
    else:
        with pytest.raises(InvalidInput):
            parse_query(text)


@given(st.text(max_size=60))
def test_any_query_is_parsed_or_refused(text: str) -> None:
    """Whatever is asked becomes clauses of terms, or is refused as holding nothing."""
    try:
        query = parse_query(text)
    except InvalidInput:
        assert list(runs(fold(text))) == [] or beginnings(text) > MAX_BEGINNINGS
        return
    for clause in query.clauses:
        assert clause.terms
        assert not clause.prefix or len(clause.terms) == 1


def beginnings(text: str) -> int:
    """How many different beginnings a query asks for."""
    clauses = {clause for part in fold(text).split() for clause in _clauses(part)}
    return sum(clause.prefix for clause in clauses)


def test_beginnings_are_bounded() -> None:
    """Eight different ones are answered, no more; words and pairs are none, and repeated ones count once."""
    letters = [f"{letter}*" for letter in "abcdefghi"]
    assert len(parse_query(" ".join(letters[:8])).clauses) == 8
    assert len(parse_query(" ".join(letters[:8] * 20)).clauses) == 8
    parse_query("北京 " * 100 + "word " * 100)
    for text in (" ".join(letters), "北 京 大 学 在 中 国 城 市", "a* b* c* d* e* 北 京 大 学"):
        with pytest.raises(InvalidInput, match="at most 8 words"):
            parse_query(text)


def test_one_character_is_a_beginning() -> None:
    """One character of a script without spaces finds where it begins a pair, or ends the run."""
    (clause,) = parse_query("语").clauses
    assert clause == Clause(runs=("语",), terms=("语",), prefix=True)
    assert parse_query("日本語").clauses[0].terms == ("日本", "本語")


def test_long_phrases_are_cut() -> None:
    """A run or a chain of words is asked for in pieces that together hold all of it."""
    run = "".join(chr(0x4E00 + n) for n in range(40))
    clauses = parse_query(run).clauses
    assert [len(clause.terms) for clause in clauses] == [MAX_PHRASE, MAX_PHRASE, 7]
    assert " ".join(" ".join(clause.terms) for clause in clauses) == terms(run).removesuffix(f" {run[-1]}")
    assert [len(clause.terms) for clause in parse_query("-".join("abcdefghijklmnopqr")).clauses] == [16, 2]
    assert len(parse_query("字" * 1_000).clauses) == 2


def test_words_joined_by_marks_follow_each_other() -> None:
    """`e-mail` is a phrase, `e mail` are two words; a star asks for beginnings."""
    assert [clause.terms for clause in parse_query("e-mail").clauses] == [("e", "mail")]
    assert [clause.terms for clause in parse_query("e mail").clauses] == [("e",), ("mail",)]
    assert [(clause.terms, clause.prefix) for clause in parse_query("e-mai*").clauses] == [
        (("e",), False),
        (("mai",), True),
    ]


@pytest.mark.parametrize(
    "text", ["", " ", "?!", "\n", "…", "*", '"', "§", "->", "\u200d", "\u0000", "\ud800"]
)
def test_nothing_to_search_for(text: str) -> None:
    with pytest.raises(InvalidInput):
        parse_query(text)


def test_too_long() -> None:
    assert parse_query("x" * MAX_QUERY).clauses
    with pytest.raises(InvalidInput):
        parse_query("x" * (MAX_QUERY + 1))


def test_scripts() -> None:
    """Which runs are written without spaces."""
    assert [is_unspaced(run) for run in runs(fold("日本 abc ไทย мир 한국 עברית"))] == [
        True,
        False,
        True,
        False,
        True,
        False,
    ]


def test_what_is_remembered_of_characters_is_bounded() -> None:
    """Nobody fills the memory by saying each character that there is."""
    assert terms("".join(map(chr, range(0x20000, 0x21000))))
    assert terms("\U0001f433 whale") == "\U0001f433 whale"

    assert max(_KINDS) < 0x10000
