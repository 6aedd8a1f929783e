"""Tool groups of stored messages: an assistant message with calls, and all their results.

A group is cut by nothing: no fork, compression or trim ends between its first message and its last.
"""

import math
from collections.abc import Iterator, Sequence

from stello_graph.errors import InvalidInput
from stello_graph.model.message import Draft, Message, MessageRole, ToolCall
from stello_graph.session.context.pairing import Line, answers, is_result

__all__ = ["check_whole", "cuts_group", "last_whole", "newest_whole", "whole_cuts"]


def cuts_group(messages: Sequence[Message], seq: int) -> bool:
    """Whether an end after message `seq` would leave a part of a tool group behind."""
    return any(first <= seq < last for first, last in _spans(messages))


def last_whole(messages: Sequence[Message], seq: int) -> int:
    """The last place at or before `seq` after which no tool group is cut, 0 or less where there is none."""
    for first, last in reversed(tuple(_spans(messages))):
        if first <= seq < last:
            seq = first - 1
    return seq


def newest_whole(messages: Sequence[Message], keep_last: int) -> int:
    """The seq from which to keep, so that the newest `keep_last` messages stay.

    Where that would cut a tool group, all of the group stays: what is trimmed is lost for good.

    Args:
        messages: the transcript, or its newest part from the start of some group on.
        keep_last: 0 keeps nothing, more than there is keeps all.

    Raises:
        InvalidInput: `keep_last` is negative.
    """
    if keep_last < 0:
        raise InvalidInput("keepLast must be 0 or more")
    if not messages:
        return 1
    if keep_last == 0:
        return messages[-1].seq + 1
    if keep_last >= len(messages):
        return messages[0].seq
    return last_whole(messages, messages[-keep_last - 1].seq) + 1


def whole_cuts(lines: Sequence[Line]) -> list[int]:
    """The lengths that a beginning of `lines` may have without cutting a tool group, from 0 on."""
    ends = dict(_groups(lines))
    cuts, reach = [0], -1.0
    for length in range(1, len(lines) + 1):
        reach = max(reach, ends.get(length - 1, -1.0))
        if reach < length:
            cuts.append(length)
    return cuts


def check_whole(drafts: Sequence[Draft]) -> None:
    """Checks that messages can be appended as they are: each says something, and tool groups are whole.

    Raises:
        InvalidInput: names the first message that does not fit, counted from 0, and why.
    """
    waiting: list[ToolCall] = []
    for index, draft in enumerate(drafts):
        where = f"messages[{index}]"
        if draft.role is MessageRole.TOOL:
            _take(waiting, draft, where)
            continue
        _check_answered(waiting, where)
        _check_said(draft, where)
        waiting = list(draft.tool_calls)
    _check_answered(waiting, "the end")


def _spans(messages: Sequence[Message]) -> Iterator[tuple[int, float]]:
    """First and last seq of each group. One that still waits for results at the end has no last."""
    for first, last in _groups(messages):
        yield messages[first].seq, last if last == math.inf else messages[int(last)].seq


def _groups(lines: Sequence[Line]) -> Iterator[tuple[int, float]]:
    """First and last index of each group. One that still waits for results at the end has no last."""
    found = answers(lines)
    spoken = max((index for index, line in enumerate(lines) if not is_result(line)), default=-1)
    for index, line in enumerate(lines):
        if not line.tool_calls or is_result(line):
            continue
        places = [found.get((index, number)) for number in range(len(line.tool_calls))]
        results = [place for place in places if place is not None]
        waits = index == spoken and len(results) < len(places)
        yield index, math.inf if waits else max(results, default=index)


def _take(waiting: list[ToolCall], result: Draft, where: str) -> None:
    if not result.tool_call_id:
        raise InvalidInput(f"{where} is a tool's result and needs a toolCallId")
    if result.tool_calls:
        raise InvalidInput(f"{where} is a tool's result and makes no calls of its own")
    call = next((call for call in waiting if call.id == result.tool_call_id), None)
    if call is None:
        raise InvalidInput(
            f'{where} answers "{result.tool_call_id}", but no call of that id waits for a result there: '
            "results stand directly after the message with their calls, one for each call"
        )
    waiting.remove(call)


def _check_answered(waiting: Sequence[ToolCall], where: str) -> None:
    if waiting:
        raise InvalidInput(f'the call "{waiting[0].id}" has no result before {where}')


def _check_said(draft: Draft, where: str) -> None:
    if draft.tool_call_id:
        raise InvalidInput(f"{where} has a toolCallId, but only a tool's result answers a call")
    if draft.role is MessageRole.USER and draft.tool_calls:
        raise InvalidInput(f"{where} is the user's, who makes no tool calls")
    if draft.role is MessageRole.ASSISTANT and not (draft.content or draft.tool_calls or draft.parts):
        raise InvalidInput(f"{where} is the assistant's and has neither text nor tool calls")
    ids = [call.id for call in draft.tool_calls]
    if not all(call.id and call.name for call in draft.tool_calls):
        raise InvalidInput(f"{where} has a tool call without an id or a name")
    if len(ids) != len(set(ids)):
        raise InvalidInput(f"{where} has two tool calls with the same id")
