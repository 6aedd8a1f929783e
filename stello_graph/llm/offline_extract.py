"""Extracts: the offline model's answers, digests and integrations. Pure."""

import re
from collections.abc import Callable, Sequence
from itertools import chain, zip_longest

__all__ = ["digest", "integration", "is_chinese", "rollup", "short"]

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_OTHER_LETTER = re.compile(r"[^\W\d_\u3400-\u9fff\uf900-\ufaff\U00020000-\U000323af]")
_OTHER_ASIAN = re.compile(r"[\u3040-\u30ff\uac00-\ud7af]")
_THINKING = re.compile(r"<think(?:ing)?>.*?(?:</think(?:ing)?>|\Z)", re.DOTALL | re.IGNORECASE)
_LINE = re.compile(r"^\s*(user|assistant|tool|system|用户|助手)\s*[:：]\s*(.*)$", re.IGNORECASE)
_HEADING = re.compile(r"^[#*【\[\s]*当前摘要[】\]*\s]*[:：]?", re.MULTILINE)
_OWN_HEADING = re.compile(r"^本会话摘要[:：]", re.MULTILINE)
_SENTENCE_END = re.compile(r"(?<=[。！？!?])|(?<=\.)\s|\n")

_FILLERS_CHINESE = (
    "以上由离线模型按原文摘录，未作概括。",
    "接入真正的模型后，这里是目标、结果与已确认结论的一段话。",
    "在那之前，它只是一份简短的索引，供其他会话了解这里谈过什么。",
    "摘录按对话的先后排列，没有评价，也没有补充任何内容。",
)
_FILLERS = (
    "The offline model extracted this sentence by sentence and summarised nothing.",
    "With a real model it would be one paragraph of goals, results and confirmed conclusions.",
    "Until then it serves other sessions as a short index of what was said here and in what order.",
    "Nothing in it was judged, weighed or added, and longer messages appear with their beginnings only.",
)


def is_chinese(text: str) -> bool:
    """Whether `text` is mostly Han characters, and neither Japanese nor Korean."""
    han = len(_HAN.findall(text))
    if len(_OTHER_ASIAN.findall(text)) * 4 > han:
        return False
    # A Latin word has about five letters where Chinese has one or two characters.
    return han * 3 > len(_OTHER_LETTER.findall(text))


def short(text: str, length: int) -> str:
    """The beginning of `text` on one line."""
    line = " ".join(_THINKING.sub("", text).split())
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def digest(before: str, record: str) -> str:
    """One paragraph out of the lines `role: content` of a record.

    Of 100 to 150 characters in Chinese, of 60 to 100 words otherwise.

    Args:
        before: what stood above the record: the digest so far.
        record: the lines.
    """
    lines = _lines(_THINKING.sub("", record))
    before = _HEADING.sub("", before)
    asked = [text for role, text in lines if role in ("user", "用户")]
    answered = [text for role, text in lines if role in ("assistant", "助手")]
    if is_chinese("".join(text for _, text in lines) or before):
        return _in_chinese(asked, answered, before, len(lines))
    return _in_words(asked, answered, before, len(lines))


def integration(digests: Sequence[tuple[str, str, str]]) -> dict[str, object]:
    """What an integration answers: a synthesis of all digests, and for each session what the others do."""
    chinese = is_chinese("".join(text for _, _, text in digests))
    joint = "；" if chinese else "; "
    lines = [f"{label}{'：' if chinese else ': '}{short(text, 60)}" for _, label, text in digests]
    insights = []
    for index, (id, _, _) in enumerate(digests):
        others = [line for at, line in enumerate(lines) if at != index]
        if others:
            insights.append({"sessionId": id, "content": joint.join(others[:5])})
    return {"synthesis": joint.join(lines)[:2000], "insights": insights}


def rollup(before: str, digests: Sequence[tuple[str, str, str]]) -> str:
    """One paragraph out of a session's own digest and of those below it.

    Args:
        before: what stood above the digests: the session's own.
        digests: id, label and digest of each session below.
    """
    own = short(_OWN_HEADING.sub("", before), 80)
    chinese = is_chinese(own + "".join(text for _, _, text in digests))
    colon, joint = ("：", "；") if chinese else (": ", "; ")
    parts = [own] if own else []
    parts += [f"[sessionId={id}] {label}{colon}{short(text, 60)}" for id, label, text in digests]
    return joint.join(parts)[:1000]


def _lines(record: str) -> list[tuple[str, str]]:
    """The lines of the record with their roles; a line without a role goes on from the one before."""
    lines: list[tuple[str, str]] = []
    for raw in record.splitlines():
        if match := _LINE.match(raw):
            lines.append((match[1].lower(), match[2].strip()))
        elif raw.strip() and lines:
            lines[-1] = (lines[-1][0], f"{lines[-1][1]} {raw.strip()}".strip())
        elif raw.strip():
            lines.append(("user", raw.strip()))
    return [(role, text) for role, text in lines if text]


def _in_chinese(asked: list[str], answered: list[str], before: str, count: int) -> str:
    facts = [f"对话共 {count} 条消息。"]
    if before.strip():
        facts.append(f"此前的摘要：「{short(before, 35)}」。")
    facts += _alternated(
        [f"用户说：「{_first_sentence(text, 35)}」。" for text in _ends(asked)],
        [f"助手答：「{_first_sentence(text, 35)}」。" for text in _ends(answered)],
    )
    return _paragraph(facts, _FILLERS_CHINESE, "", len, fewest=100, most=150)


def _in_words(asked: list[str], answered: list[str], before: str, count: int) -> str:
    facts = [f"The conversation has {count} messages."]
    if before.strip():
        facts.append(f'The digest before: "{short(before, 90)}".')
    facts += _alternated(
        [f'The user said: "{_first_sentence(text, 90)}".' for text in _ends(asked)],
        [f'The assistant answered: "{_first_sentence(text, 90)}".' for text in _ends(answered)],
    )
    return _paragraph(facts, _FILLERS, " ", lambda text: len(text.split()), fewest=60, most=100)


def _paragraph(
    facts: Sequence[str],
    fillers: Sequence[str],
    joint: str,
    size: Callable[[str], int],
    *,
    fewest: int,
    most: int,
) -> str:
    """Facts as long as they fit, then fillers as long as they are needed."""
    text = ""
    for sentence in facts:
        longer = f"{text}{joint}{sentence}".strip()
        text = longer if size(longer) <= most else text
    for sentence in fillers:
        text = f"{text}{joint}{sentence}" if size(text) < fewest else text
    return text


def _ends(texts: list[str]) -> list[str]:
    """The first and the newest, then what is between."""
    return [*texts[:1], *texts[:0:-1][:1], *texts[1:-1]]


def _alternated(first: list[str], second: list[str]) -> list[str]:
    """By turns from both, each sentence once."""
    pairs = zip_longest(first, second, fillvalue="")
    return [sentence for sentence in dict.fromkeys(chain.from_iterable(pairs)) if sentence]


def _first_sentence(text: str, length: int) -> str:
    first = next((part for part in _SENTENCE_END.split(text) if part.strip()), text)
    return short(first, length).rstrip("。.")
