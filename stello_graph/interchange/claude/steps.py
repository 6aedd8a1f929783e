"""Makes the tree of steps: a message that calls tools becomes several, each result next to its call."""

from collections.abc import Mapping, Sequence

from stello_graph.interchange.branches import Step
from stello_graph.interchange.claude.pieces import Call, Piece, Said
from stello_graph.interchange.conversations import NO_RESULT
from stello_graph.interchange.names import call_id, derived
from stello_graph.interchange.nodes import Node
from stello_graph.model.message import Draft, MessageRole, MessageState, ToolCall

__all__ = ["StepTree"]

SYNTHETIC = {"type": "claude", "synthetic": True}

_RESULT_OF = {"call": "result", "open": "none", "synthetic": "answer"}


class StepTree:
    """The steps of one conversation.

    Attributes:
        steps: in their order.
    """

    def __init__(
        self, conversation_id: str, nodes: Sequence[Node], pieces: Mapping[Node, Piece], began_at: int | None
    ) -> None:
        self.steps: list[Step] = []
        self._id = conversation_id
        self._began_at = began_at
        self._pieces = pieces
        self._ends: dict[Node, Step | None] = {}
        for node in nodes:
            self._add(node)

    def is_visible(self, node: Node) -> bool:
        """Whether `node` itself is in a step."""
        return bool(self._pieces[node].groups) or self._pieces[node].is_answer

    def step_of(self, node: Node) -> Step | None:
        """The step where the path to `node` ends, which is before it where it is hidden."""
        return self._ends[node]

    def _add(self, node: Node) -> None:
        piece = self._pieces[node]
        end = self._ends[node.parent] if node.parent else None
        for number, group in enumerate(piece.groups):
            at = node.created_at or (end.last.created_at if end else self._began_at)
            is_cut = piece.is_cut and number == len(piece.groups) - 1
            messages: tuple[Draft, ...]
            if isinstance(group, Said):
                messages = (self._said(self._name(node, number), piece, group, is_cut, at),)
            else:
                messages = self._called(node, number, group, piece.model, is_cut, at)
            id = self._name(node, number)
            end = Step(end, len(self.steps), id, messages, detached=node.detached)
            self.steps.append(end)
        self._ends[node] = end

    def _name(self, node: Node, number: int, kind: str = "") -> str:
        """An id. Only the first words of a message have the message's own."""
        suffix = (f".{number}{kind}",) if number or kind else ()
        return derived(self._id, node.name, *suffix)

    def _said(self, id: str, piece: Piece, said: Said, is_cut: bool, at: int | None) -> Draft:
        return Draft(
            id=id,
            role=MessageRole.USER if piece.is_human else MessageRole.ASSISTANT,
            content=said.text,
            parts=said.parts,
            state=_state(is_cut and not piece.is_human),
            model=None if piece.is_human else piece.model,
            created_at=at,
        )

    def _called(
        self, node: Node, number: int, call: Call, model: str | None, is_cut: bool, at: int | None
    ) -> tuple[Draft, Draft]:
        """A call and its result. A call that is answered in a later export has other ids there."""
        answer = call.answer
        kind = "synthetic" if call.asked is None else "call" if answer is not None else "open"
        id = self._name(node, number, kind)
        asked = Draft(
            id=id,
            role=MessageRole.ASSISTANT,
            content="",
            parts=[SYNTHETIC] if call.asked is None else call.parts,
            state=_state(is_cut),
            tool_calls=(ToolCall(id=call_id(id), name=call.tool, arguments=call.arguments),),
            model=model,
            created_at=at,
        )
        answered = Draft(
            id=self._name(node, number, _RESULT_OF[kind]),
            role=MessageRole.TOOL,
            content=NO_RESULT if answer is None else call.text,
            parts=call.answer_parts,
            state=MessageState.CANCELLED if answer is None else MessageState.COMPLETE,
            tool_call_id=asked.tool_calls[0].id,
            tool_name=call.tool,
            is_error=answer is None or call.is_error,
            created_at=call.answered_at or at,
        )
        return asked, answered


def _state(is_cut: bool) -> MessageState:
    return MessageState.TRUNCATED if is_cut else MessageState.COMPLETE
