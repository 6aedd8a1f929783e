"""One message of a product that keeps thoughts, tool calls and text of a reply together, as ours."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import orjson

from stello_graph.interchange.conversations import MAX_MESSAGE, NO_RESULT, Malformed
from stello_graph.interchange.names import call_id
from stello_graph.interchange.text import Cleaner, Unfit, thinking
from stello_graph.model.message import Draft, MessageRole, MessageState, ToolCall

__all__ = ["Call", "Piece", "Text", "Thought", "Utterance", "arguments_of"]


@dataclass(frozen=True, slots=True)
class Text:
    """What is said."""

    text: str


@dataclass(frozen=True, slots=True)
class Thought:
    """What a model thinks before it speaks."""

    text: str


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call with its result, None where there is none.

    Attributes:
        answered_at: when the result came; None where the file does not say.
    """

    tool: str
    arguments: Any
    result: str | None
    is_error: bool = False
    answered_at: int | None = None


Piece = Text | Thought | Call


@dataclass(frozen=True, slots=True)
class Utterance:
    """All that one message of the file says.

    Attributes:
        role: USER or ASSISTANT.
        rest: what cannot be said by pieces, kept as a block of `parts`.
        is_cut: whether a reply ends before its end.
    """

    role: MessageRole
    pieces: tuple[Piece, ...]
    rest: dict[str, Any] = field(default_factory=dict)
    is_cut: bool = False
    model: str | None = None
    created_at: int | None = None

    @property
    def is_empty(self) -> bool:
        """Whether nothing is said and no tool called. Thoughts alone say something."""
        return not any(isinstance(piece, Call) or piece.text.strip() for piece in self.pieces)

    @property
    def is_open(self) -> bool:
        """Whether a later export may have more of it."""
        return self.is_cut or any(isinstance(piece, Call) and piece.result is None for piece in self.pieces)

    def cleaned(self, cleaner: Cleaner) -> "Utterance":
        """As a store takes it.

        Raises:
            Malformed: no store takes it.
        """
        try:
            pieces = tuple(_cleaned(piece, cleaner) for piece in self.pieces)
            rest = cleaner.value({key: value for key, value in self.rest.items() if value})
        except Unfit as error:
            raise Malformed(str(error)) from error
        if sum(map(_size, pieces)) + len(orjson.dumps(rest)) > MAX_MESSAGE:
            raise Malformed("longer than 16 MiB")
        model = cleaner.text(self.model) if self.model else None
        return Utterance(self.role, pieces, rest, self.is_cut, model, self.created_at)

    def drafts(self, id: str, format: str, before: int | None) -> tuple[Draft, ...]:
        """The messages: for each row of calls one that makes them, with what was said before, and its
        results; then what is said at last, which has `id` itself.

        Args:
            format: the type of the block of `parts`.
            before: the time of the message before, where this one has none.
        """
        parts = [{"type": format, **self.rest}] if self.rest else None
        return tuple(self._drafts(id, parts, self.created_at or before))

    def _drafts(self, id: str, parts: Any, created_at: int | None) -> Iterator[Draft]:
        rows = list(_rows(self.pieces))
        for number, (said, calls) in enumerate(rows, 1):
            is_last = number == len(rows)
            row_id = f"{id}:.{number}" if calls else id
            call_ids = [call_id(f"{row_id}.{place}") for place in range(1, len(calls) + 1)]
            yield Draft(
                id=row_id,
                role=self.role,
                content="\n\n".join(said),
                parts=parts if is_last else None,
                state=MessageState.TRUNCATED if is_last and self.is_cut else MessageState.COMPLETE,
                tool_calls=tuple(
                    ToolCall(id=of_call, name=call.tool, arguments=call.arguments)
                    for of_call, call in zip(call_ids, calls, strict=True)
                ),
                model=self.model,
                created_at=created_at,
            )
            for place, (of_call, call) in enumerate(zip(call_ids, calls, strict=True), 1):
                yield Draft(
                    id=f"{row_id}.{place}",
                    role=MessageRole.TOOL,
                    content=NO_RESULT if call.result is None else call.result,
                    state=MessageState.CANCELLED if call.result is None else MessageState.COMPLETE,
                    tool_call_id=of_call,
                    tool_name=call.tool,
                    is_error=call.is_error or call.result is None,
                    created_at=call.answered_at or created_at,
                )


def arguments_of(value: Any) -> Any:
    """A call's arguments: an object, also one written as JSON, once or twice; else the value as `input`."""
    for _ in range(2):
        if isinstance(value, str):
            value = _parsed(value)
    if isinstance(value, dict):
        return value
    return {} if value in (None, "", []) else {"input": value}


def _parsed(text: str) -> Any:
    try:
        return orjson.loads(text)
    except ValueError:
        return text


def _rows(pieces: tuple[Piece, ...]) -> Iterator[tuple[list[str], list[Call]]]:
    said: list[str] = []
    calls: list[Call] = []
    for piece in pieces:
        if isinstance(piece, Call):
            calls.append(piece)
        elif piece.text.strip():
            if calls:
                yield said, calls
                said, calls = [], []
            said.append(thinking(piece.text) if isinstance(piece, Thought) else piece.text)
    if said or calls:
        yield said, calls


def _cleaned(piece: Piece, cleaner: Cleaner) -> Piece:
    if isinstance(piece, Text):
        return Text(cleaner.text(piece.text))
    if isinstance(piece, Thought):
        return Thought(cleaner.text(piece.text))
    result = None if piece.result is None else cleaner.text(piece.result)
    return replace(
        piece, tool=cleaner.text(piece.tool), arguments=cleaner.value(piece.arguments), result=result
    )


def _size(piece: Piece) -> int:
    if not isinstance(piece, Call):
        return len(piece.text.encode())
    return len(orjson.dumps(piece.arguments)) + len((piece.result or "").encode())
