"""Writes the messages of the tree's steps, and gives them their ids."""

from collections.abc import Iterator, Mapping
from typing import Any

from stello_graph.interchange.chatgpt.groups import Group, groups_of
from stello_graph.interchange.chatgpt.nodes import Node
from stello_graph.interchange.chatgpt.pieces import Kind, Piece
from stello_graph.interchange.names import call_id, derived
from stello_graph.model.message import Draft, MessageRole, MessageState, ToolCall

__all__ = ["NO_RESULT", "Drafts"]

NO_RESULT = "The export holds no result of this call."
SYNTHETIC = {"type": "chatgpt", "synthetic": True}


class Drafts:
    """Makes the drafts of one conversation, step by step in the order of the steps."""

    def __init__(self, conversation_id: str, pieces: Mapping[Node, Piece]) -> None:
        self._id = conversation_id
        self._pieces = pieces
        self._taken: set[str] = set()

    def of(self, nodes: tuple[Node, ...], before: int | None) -> tuple[Draft, ...]:
        """The messages of the step made of `nodes`, each result next to its call.

        Args:
            before: the time of the message before, for messages that have none.
        """
        drafts: list[Draft] = []
        for group in groups_of(nodes, self._pieces):
            if group.said:
                drafts.append(self._said(group.said, nodes[-1], before))
            else:
                call = self._call(group, nodes[-1], before)
                drafts += (call, self._result(group, nodes[-1], call))
            before = drafts[-1].created_at
        return tuple(drafts)

    def _said(self, node: Node, last: Node, before: int | None) -> Draft:
        piece = self._pieces[node]
        return Draft(
            id=self._new_id(last, node.name),
            role=MessageRole.USER if piece.kind is Kind.USER else MessageRole.ASSISTANT,
            content=piece.text,
            parts=piece.parts,
            state=MessageState.TRUNCATED if piece.is_cut else MessageState.COMPLETE,
            model=piece.model,
            created_at=piece.created_at or before,
        )

    def _call(self, group: Group, last: Node, before: int | None) -> Draft:
        if group.call is None:
            output = group.outputs[0]
            piece = Piece(
                Kind.CALL, parts=[SYNTHETIC], arguments={}, created_at=self._pieces[output].created_at
            )
            id = self._new_id(last, output.name, ".call")
        else:
            piece = self._pieces[group.call]
            id = self._new_id(last, group.call.name, *(() if group.outputs else (".open",)))
        return Draft(
            id=id,
            role=MessageRole.ASSISTANT,
            content="",
            parts=piece.parts,
            state=MessageState.TRUNCATED if piece.is_cut else MessageState.COMPLETE,
            tool_calls=(ToolCall(id=call_id(id), name=group.tool, arguments=piece.arguments),),
            model=piece.model,
            created_at=piece.created_at or before,
        )

    def _result(self, group: Group, last: Node, call: Draft) -> Draft:
        outputs = [self._pieces[node] for node in group.outputs]
        names = (group.outputs[0].name,) if outputs else (group.call.name if group.call else "", ".result")
        return Draft(
            id=self._new_id(last, *names),
            role=MessageRole.TOOL,
            content="\n\n".join(piece.text for piece in outputs if piece.text) if outputs else NO_RESULT,
            parts=_parts([piece for piece in outputs if piece.text or piece.parts]),
            state=MessageState.COMPLETE if outputs else MessageState.CANCELLED,
            tool_call_id=call.tool_calls[0].id,
            tool_name=group.tool,
            is_error=not outputs or any(piece.is_error for piece in outputs),
            created_at=next((piece.created_at for piece in outputs if piece.created_at), call.created_at),
        )

    def _new_id(self, last: Node, *names: str) -> str:
        """The id made of `names`; where a step before has it, with the name of the step's last node too."""
        id = derived(self._id, *names)
        if id in self._taken:
            id = derived(id, last.name)
        self._taken.add(id)
        return id


def _parts(outputs: list[Piece]) -> list[Any] | None:
    if len(outputs) < 2:
        return outputs[0].parts if outputs else None
    return list(_blocks(outputs))


def _blocks(outputs: list[Piece]) -> Iterator[Any]:
    for piece in outputs:
        if piece.text:
            yield {"type": "text", "text": piece.text}
        yield from piece.parts or ()
