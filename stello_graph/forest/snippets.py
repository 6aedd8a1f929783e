"""Snippets: the part of a text that was asked for."""

import re
from functools import lru_cache

from stello_graph.model.search import Clause, SearchQuery
from stello_graph.model.terms import MAX_INDEXED, MAX_WORD, UNSPACED, fold, is_unspaced
from stello_graph.session.context.text import in_one_line

__all__ = ["MAX_SNIPPET", "snippet"]

MAX_SNIPPET = 200

_BEFORE = 60
# What is looked at to either side; much of it may be blanks.
_AROUND = 1_000
# How far a text is folded letter by letter, where the words do not stand in it as they were asked for.
_MAX_FOLDED = 20_000
# Of so many words of a query the first place is looked for.
_MAX_CLAUSES = 20
_LETTER = re.compile("(?s:.)[\u0300-\u036f\u1160-\u11ff\u3099\u309a\uff9e\uff9f]*")
# What stays with the character before it.
_JOINED = re.compile("[\u0300-\u036f\u200d\u20e3\u3099\u309a\uff9e\uff9f\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]")
_IN_WORD = rf"[^\W_{UNSPACED}]"
_BLANKS = re.compile(r"\s+")


def snippet(text: str, query: SearchQuery) -> str:
    """Up to 200 characters of `text` around the first place that was asked for, or else its beginning.

    One line of plain text without control characters; `…` stands for what is left out.
    """
    start, end = _place(text[:MAX_INDEXED], query)
    before = _clean(text[max(0, start - _AROUND) : start])
    found = _clean(text[start:end])[: MAX_SNIPPET - 2]
    after = _clean(text[end : end + _AROUND])
    cut_before = start > _AROUND or len(before) > _BEFORE
    if cut_before:
        before = _whole(before, max(0, len(before) - _BEFORE))
    line = f"{'…' if cut_before else ''}{before}{found}"
    if len(line) + len(after) <= MAX_SNIPPET and len(text) <= end + _AROUND:
        return (line + after).strip()
    return _until(line + after, MAX_SNIPPET - 1).strip() + "…"


def _place(text: str, query: SearchQuery) -> tuple[int, int]:
    """Where the first of what was asked for begins and ends."""
    pattern = _pattern(query.clauses)
    lower = text.lower()
    if len(lower) == len(text) and (match := pattern.search(lower)):
        return match.span()
    folded, places = _folded(text[:_MAX_FOLDED])
    match = pattern.search(folded)
    return (0, 0) if match is None else (places[match.start()], places[match.end()])


def _folded(text: str) -> tuple[str, list[int]]:
    """`text` folded, and for each of its characters, and its end, where the letter that gave it begins."""
    parts, places = [], []
    for letter in _LETTER.finditer(text):
        part = _fold(letter.group())
        parts.append(part)
        places += [letter.start()] * len(part)
    return "".join(parts), [*places, len(text)]


@lru_cache(maxsize=128)
def _pattern(clauses: tuple[Clause, ...]) -> re.Pattern[str]:
    return re.compile("|".join(map(_pattern_of, clauses[:_MAX_CLAUSES])))


def _pattern_of(clause: Clause) -> str:
    words = r"[\W_]+".join(re.escape(run) for run in clause.runs)
    if is_unspaced(clause.runs[-1]):
        return words
    whole = "" if clause.prefix or len(clause.runs[-1]) == MAX_WORD else f"(?!{_IN_WORD})"
    return f"(?<!{_IN_WORD}){words}{whole}"


@lru_cache(maxsize=4096)
def _fold(letter: str) -> str:
    return fold(letter)


def _clean(text: str) -> str:
    """One line without control characters, with the blanks at its ends."""
    line = _BLANKS.sub(" ", text)
    head, tail = line[:1].isspace(), line[1:] and line[-1:].isspace()
    inner = in_one_line(line)
    return f"{' ' if head and inner else ''}{inner}{' ' if tail or (head and not inner) else ''}"


def _whole(text: str, start: int) -> str:
    """`text` from about `start` on, at the beginning of a character and of a word where one is near."""
    space = text.find(" ", start, start + 20)
    start = start if space < 0 else space + 1
    while start < len(text) and _JOINED.match(text[start]):
        start += 1
    return text[start:]


def _until(text: str, end: int) -> str:
    """`text` up to about `end`, with whole characters only."""
    while end > 0 and end < len(text) and _JOINED.match(text[end]):
        end -= 1
    return text[:end]
