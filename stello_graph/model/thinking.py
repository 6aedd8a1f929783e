"""Which part of a text is thinking, and whether anything of it can be seen."""

import re

__all__ = ["is_blank", "without_thinking"]

_INVISIBLE = re.compile(r"[\s\x00-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]*")
_THINKING = re.compile(r"<think(?:ing)?>|</think(?:ing)?>\s*", re.IGNORECASE)


def is_blank(text: str) -> bool:
    """Whether nothing of `text` can be seen; providers refuse blocks of such text."""
    return _INVISIBLE.fullmatch(text) is not None


def without_thinking(text: str) -> str:
    """`text` without its `<think>` blocks.

    The first block may lack its start, where the tag that ends it opens a line (some models' templates
    hold the start themselves); the last its end, where the reply was cut before it said anything else.
    """
    if "<" not in text:
        return text.strip()
    said: list[str] = []
    at, start = 0, None
    for number, tag in enumerate(_THINKING.finditer(text)):
        ends = tag.group().startswith("</")
        if not ends and start is None:
            start = tag.start()
        elif ends and start is not None:
            said.append(text[at:start])
            at, start = tag.end(), None
        elif number == 0 and not text[: tag.start()].rpartition("\n")[2].strip():
            at = tag.end()
    cut_off = start is not None and is_blank("".join(said) + text[at:start])
    return "".join(said if cut_off else [*said, text[at:]]).strip()
