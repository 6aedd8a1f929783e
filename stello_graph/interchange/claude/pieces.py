"""What one message of the export is in a transcript."""

from dataclasses import dataclass, field
from typing import Any

import orjson

from stello_graph.interchange.claude.blocks import (
    Block,
    blocks_of,
    is_call,
    is_result,
    is_thinking,
    parts_of,
    result_parts,
    result_text,
    text_of,
)
from stello_graph.interchange.conversations import MAX_MESSAGE, Malformed
from stello_graph.interchange.opencalls import OpenCalls
from stello_graph.interchange.text import Cleaner, Unfit

__all__ = ["Call", "Piece", "Said", "piece_of", "text_in"]

_SENDERS = {"human": True, "user": True, "assistant": False}
_CUT = ("max_tokens", "user_canceled", "user_cancelled")


@dataclass(slots=True)
class Said:
    """Text, and what came with it."""

    text: str
    parts: list[Block] | None = None


@dataclass(slots=True)
class Call:
    """A call of a tool, an answer, or both.

    Attributes:
        asked, answer: the blocks; at most one is None.
        parts: what came before the call and is no text.
        text: of the answer.
        answered_at: when the answer came, where that is not the time of the message.
    """

    asked: Block | None
    answer: Block | None = None
    tool: str = ""
    arguments: Any = None
    parts: list[Block] | None = None
    text: str = ""
    answer_parts: list[Block] | None = None
    is_error: bool = False
    answered_at: int | None = None

    def answer_with(self, other: "Call", answered_at: int | None) -> None:
        """Takes the answer of `other`, which stands in a message of its own."""
        self.answer, self.answered_at = other.answer, answered_at
        self.text, self.answer_parts, self.is_error = other.text, other.answer_parts, other.is_error


@dataclass(slots=True)
class Piece:
    """A message, understood: what it says and which tools it calls, in order; nothing where it is empty.

    Attributes:
        is_answer: whether all that it says are answers, which stand at their calls, in messages above.
    """

    is_human: bool = False
    groups: list[Said | Call] = field(default_factory=list)
    model: str | None = None
    is_cut: bool = False
    is_answer: bool = False


def piece_of(message: Any, default_model: Any, cleaner: Cleaner) -> Piece:
    """Understands a message.

    Raises:
        Malformed: it is none.
    """
    if not isinstance(message, dict):
        raise Malformed("it is no object")
    sender = message.get("sender")
    if not isinstance(sender, str):
        raise Malformed("it has no sender")
    if sender not in _SENDERS:
        raise Malformed("its sender is none that is known")
    groups = _groups(blocks_of(message))
    try:
        for group in groups:
            _clean(group, cleaner)
    except Unfit as error:
        raise Malformed(str(error)) from error
    if any(_size(group) > MAX_MESSAGE for group in groups):
        raise Malformed("longer than 16 MiB")
    model = message.get("model") or default_model
    is_cut = any(message.get(key) is True for key in ("truncated", "is_partial"))
    return Piece(
        is_human=_SENDERS[sender],
        groups=groups,
        model=cleaner.text(model) if isinstance(model, str) else None,
        is_cut=is_cut or message.get("stop_reason") in _CUT,
    )


def _groups(blocks: list[Block]) -> list[Said | Call]:
    """Cuts at the tools. Thinking without words beside it goes with the call that it led to."""
    groups: list[Said | Call] = []
    open_calls = OpenCalls[Call]()
    run: list[Block] = []
    for block in blocks:
        if not is_call(block) and not is_result(block):
            run.append(block)
            continue
        if said := _said(run):
            groups.append(said)
            run = []
        if is_call(block):
            call = Call(block, parts=list(parts_of(run)) or None)
            run = []
            id, name = text_in(block, "id"), text_in(block, "name")
            open_calls.add(None, call, (id, name), (id, None), (None, name), (None, None))
            groups.append(call)
        elif answered := _answered(block, open_calls):
            answered.answer = block
        else:
            groups.append(Call(None, block))
    if said := _said(run) or _thought(run):
        groups.append(said)
    return groups


def _said(run: list[Block]) -> Said | None:
    text = "\n\n".join(text for block in run if (text := text_of(block)).strip())
    return Said(text, list(parts_of(run)) or None) if text else None


def _thought(run: list[Block]) -> Said | None:
    thoughts = list(parts_of([block for block in run if is_thinking(block)]))
    return Said("[thinking]", thoughts) if thoughts else None


def _answered(answer: Block, open_calls: OpenCalls[Call]) -> Call | None:
    """The call with the answer's id; where one of them has none, the first one of its name, else of which
    one has no name.
    """
    id, name = text_in(answer, "tool_use_id"), text_in(answer, "name")
    same = open_calls.take((id, None)) if id else None
    without_id = "" if id else None
    return same or open_calls.take((without_id, name)) or open_calls.take((without_id, "" if name else None))


def _clean(group: Said | Call, cleaner: Cleaner) -> None:
    group.parts = cleaner.value(group.parts)
    if isinstance(group, Said):
        group.text = cleaner.text(group.text)
        return
    named = group.asked or group.answer or {}
    group.tool = cleaner.text(text_in(named, "name") or (text_in(group.answer or {}, "name") or "tool"))
    given = (group.asked or {}).get("input")
    arguments = {} if given is None else given if isinstance(given, dict) else {"input": given}
    group.arguments = cleaner.value(arguments)
    if group.answer is not None:
        group.text = cleaner.text(result_text(group.answer))
        group.answer_parts = cleaner.value(list(result_parts(group.answer)) or None)
        group.is_error = group.answer.get("is_error") is True


def text_in(block: Block, key: str) -> str:
    """The text at `key`, empty where there is none."""
    value = block.get(key)
    return value if isinstance(value, str) else ""


def _size(group: Said | Call) -> int:
    values = (group.arguments, group.answer_parts) if isinstance(group, Call) else ()
    return len(group.text.encode()) + len(orjson.dumps((group.parts, *values)))
