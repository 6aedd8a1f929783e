"""Which result answers which tool call, whatever order and ids a transcript has."""

from collections.abc import Sequence
from typing import Protocol

from stello_graph.model.message import ToolCall

__all__ = ["Line", "Place", "answers", "is_result"]

Place = tuple[int, int]
"""A call: the index of its message, and its own index in there."""


class Line(Protocol):
    """What a stored message, a draft and a compiled message have in common."""

    @property
    def role(self) -> str: ...
    @property
    def tool_calls(self) -> tuple[ToolCall, ...]: ...
    @property
    def tool_call_id(self) -> str | None: ...
    @property
    def tool_name(self) -> str | None: ...


def is_result(line: Line) -> bool:
    """Whether this is the result of a tool."""
    return line.role.lower() == "tool"


def answers(lines: Sequence[Line]) -> dict[Place, int]:
    """Maps each answered call to the index of its result.

    A result belongs to the newest message before it that has a call of its id; where that message
    uses the id twice, results and calls pair in order. A result without an id takes the first call of
    the newest message with calls that is still open and has its tool's name. What is left over,
    a second result of one call or a result of no call, answers nothing.
    """
    found: dict[Place, int] = {}
    by_id: dict[str, list[Place]] = {}
    newest: list[Place] = []
    for index, line in enumerate(lines):
        if line.tool_calls and not is_result(line):
            newest = [(index, number) for number in range(len(line.tool_calls))]
            by_id.update({call.id: [] for call in line.tool_calls})
            for place, call in zip(newest, line.tool_calls, strict=True):
                by_id[call.id].append(place)
        elif is_result(line):
            asked = by_id.get(line.tool_call_id, []) if line.tool_call_id else _same_tool(lines, newest, line)
            still_open = [place for place in asked if place not in found]
            if still_open:
                found[still_open[0]] = index
    return found


def _same_tool(lines: Sequence[Line], places: Sequence[Place], result: Line) -> list[Place]:
    return [
        (index, number)
        for index, number in places
        if not result.tool_name or lines[index].tool_calls[number].name == result.tool_name
    ]
