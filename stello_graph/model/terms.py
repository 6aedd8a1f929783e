"""The terms by which a text is found: the same for every engine, which only has to split them at spaces.

A text is folded (case, compatibility forms and diacritics do not count) and cut into runs. A run of a
script that is written without spaces becomes overlapping pairs of characters and its last character; any
other run of letters and digits is a word; an emoji is a word of its own. All else separates.
"""

import re
import unicodedata
from collections.abc import Iterator
from operator import add

__all__ = ["MAX_INDEXED", "MAX_WORD", "UNSPACED", "fold", "is_unspaced", "pairs", "runs", "terms"]

MAX_INDEXED = 100_000
MAX_WORD = 64

# Thai, Lao, Burmese, Khmer; Hangul; kana, bopomofo and Han, with the marks that stand among them.
UNSPACED = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u1100-\u11ff\ua960-\ua97f\uac00-\ud7ff\u3005-\u3007\u3021-\u3029"
    "\u3031-\u3035\u3041-\u312f\u3131-\u318e\u31a0-\u31bf\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\U0001aff0-\U0001b16f\U00020000-\U000323af"
)
_EMOJI = "\u2600-\u27bf\U0001f000-\U0001faff"
_RUN = re.compile(f"[{UNSPACED}]+|[{_EMOJI}]|[^ {UNSPACED}{_EMOJI}]+")
_RUN_OF_PAIRS = re.compile(f"[{UNSPACED}]+")
# Most of what is written in Chinese, Japanese and Korean: folding changes nothing of it but the case, and
# what is no letter or digit of it separates.
_PLAIN_UNSPACED = "\u3041-\u3096\u30a1-\u30fa\u30fc\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3"
_PLAIN_OTHER = "\x00-\x7f\xb7\u2014\u2018-\u201d\u2026\u3000-\u3003\u3008-\u3011\uff01-\uff0f\uff1a-\uff20"
_PLAIN = re.compile(f"[{_PLAIN_OTHER}{_PLAIN_UNSPACED}]*")
_PLAIN_RUN = re.compile(f"[{_PLAIN_UNSPACED}]+|[a-z0-9]+")
_DIACRITICS = re.compile("[\u0300-\u036f]+")


class _Kinds(dict[int, str | None]):
    """What becomes of each character of a folded text: itself, a space, or nothing.

    Found out once for those of the basic plane; to remember all would take some hundred MB.
    """

    def __missing__(self, point: int) -> str | None:
        kind = self._kind(chr(point))
        if point < 0x10000:
            self[point] = kind
        return kind

    def _kind(self, character: str) -> str | None:
        category = unicodedata.category(character)
        if (
            category == "Me"
            or (category == "Cf" and character != "\u200b")
            or "\ufe00" <= character <= "\ufe0f"
        ):
            return None
        is_emoji = category == "So" and re.match(f"[{_EMOJI}]", character)
        return character if category[0] in "LNM" or is_emoji else " "


_KINDS = _Kinds()


def fold(text: str) -> str:
    """`text` as it is compared: NFKC, without case and without the diacritics of U+0300 to U+036F.

    Marks of other scripts stay, since they are part of the word: a voiced kana is another kana.
    """
    if text.isascii():
        return text.lower()
    folded = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    return unicodedata.normalize("NFKC", _DIACRITICS.sub("", folded))


def runs(folded: str) -> Iterator[str]:
    """The runs of a folded text, in order; words are cut after 64 characters."""
    for match in _RUN.finditer(folded.translate(_KINDS)):
        run = match.group()
        yield run if is_unspaced(run) else run[:MAX_WORD]


def is_unspaced(run: str) -> bool:
    """Whether a run is of a script that is written without spaces."""
    return _RUN_OF_PAIRS.match(run) is not None


def terms(text: str) -> str:
    """The terms of the first 100,000 characters of `text`, with a space between each; empty for none."""
    text = text[:MAX_INDEXED]
    # Both short ways give the same as the long one, in a fraction of the time.
    if not text.isascii() and _PLAIN.fullmatch(text):
        return " ".join(map(_plain_terms, _PLAIN_RUN.findall(text.lower())))
    folded = fold(text)
    if folded.isascii():
        words = folded.translate(_KINDS).split()
        if max(map(len, words), default=0) > MAX_WORD:
            words = [word[:MAX_WORD] for word in words]
        return " ".join(words)
    return " ".join(_terms(run) if is_unspaced(run) else run for run in runs(folded))


def pairs(run: str) -> Iterator[str]:
    """The overlapping pairs of characters of a run."""
    return map(add, run, run[1:])


def _plain_terms(run: str) -> str:
    return run[:MAX_WORD] if run.isascii() else _terms(run)


def _terms(run: str) -> str:
    """Those of a run of a script that is written without spaces."""
    return " ".join([*pairs(run), run[-1]])
