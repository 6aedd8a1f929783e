"""Search: what is asked, and what is found."""

from collections.abc import Iterator
from enum import StrEnum

from stello_graph.errors import InvalidInput
from stello_graph.model.message import Message
from stello_graph.model.terms import fold, is_unspaced, pairs, runs
from stello_graph.model.values import Value

__all__ = [
    "MAX_BEGINNINGS",
    "MAX_PHRASE",
    "MAX_QUERY",
    "Clause",
    "SearchHit",
    "SearchMatch",
    "SearchQuery",
    "SearchScope",
    "parse_query",
]

MAX_QUERY = 1_000
# Each that begins a word of nearly all of 50,000 texts takes a tenth of a second.
MAX_BEGINNINGS = 8
# A longer one is cut in pieces: 900 terms against a long text of one repeated character took six seconds.
MAX_PHRASE = 16


class SearchScope(StrEnum):
    """Where to look."""

    LABEL = "LABEL"
    MEMORY = "MEMORY"
    MESSAGE = "MESSAGE"


class Clause(Value):
    """What a text must hold: words that follow each other, or a run of a script without spaces.

    Attributes:
        runs: as they stand in a folded text, with nothing but separators between them.
        terms: the same as they are indexed, one after the other.
        prefix: whether the only term may be the beginning of a longer one.
    """

    runs: tuple[str, ...]
    terms: tuple[str, ...]
    prefix: bool = False


class SearchQuery(Value):
    """What a text must hold, all of it. `text` is what was asked."""

    text: str
    clauses: tuple[Clause, ...]


class SearchMatch(Value):
    """Something found, as it is stored.

    Attributes:
        session_id: the session it was found in.
        text: the label or the digest; None of a message, which has its own.
        message: as seen through that session; None of labels and digests.
        score: the better the higher; results come by score, then newest first.
    """

    scope: SearchScope
    session_id: str
    text: str | None = None
    message: Message | None = None
    score: float


class SearchHit(Value):
    """Something found, with the part of its text that was asked for."""

    scope: SearchScope
    session_id: str
    message: Message | None = None
    snippet: str
    score: float


def parse_query(text: str) -> SearchQuery:
    """What a person asks for: all the words between the spaces, in any order.

    Words that only punctuation joins are found as they follow each other. `*` after a word finds words
    that begin with it.

    Raises:
        InvalidInput: nothing of `text` can be searched for, or it has more than 1,000 characters or 8
            beginnings.
    """
    if len(text) > MAX_QUERY:
        raise InvalidInput(f"query has at most {MAX_QUERY} characters")
    clauses = tuple(dict.fromkeys(clause for part in fold(text).split() for clause in _clauses(part)))
    if not clauses:
        raise InvalidInput("query holds no letter, digit or emoji")
    if sum(clause.prefix for clause in clauses) > MAX_BEGINNINGS:
        raise InvalidInput(
            f"query has at most {MAX_BEGINNINGS} words with * or single characters of a script without spaces"
        )
    return SearchQuery(text=text, clauses=clauses)


def _clauses(part: str) -> Iterator[Clause]:
    words: list[str] = []
    for run in runs(part):
        if is_unspaced(run):
            yield from _phrase(words)
            words = []
            yield from _pieces(run)
        else:
            words.append(run)
    if words and part.endswith("*"):
        yield from _phrase(words[:-1])
        yield Clause(runs=(words[-1],), terms=(words[-1],), prefix=True)
    else:
        yield from _phrase(words)


def _pieces(run: str) -> Iterator[Clause]:
    if len(run) == 1:
        yield Clause(runs=(run,), terms=(run,), prefix=True)
    for at in range(0, len(run) - 1, MAX_PHRASE):
        piece = run[at : at + MAX_PHRASE + 1]
        yield Clause(runs=(piece,), terms=tuple(pairs(piece)))


def _phrase(words: list[str]) -> Iterator[Clause]:
    for at in range(0, len(words), MAX_PHRASE):
        piece = tuple(words[at : at + MAX_PHRASE])
        yield Clause(runs=piece, terms=piece)
