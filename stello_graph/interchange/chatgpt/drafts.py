"""Writes the messages of the tree's steps, and gives them their ids."""

from collections.abc import Iterator, Mapping
from typing import Any

from stello_graph.interchange.chatgpt.groups import Group, groups_of
from stello_graph.interchange.chatgpt.pieces import Kind, Piece
from stello_graph.interchange.conversations import NO_RESULT
from stello_graph.interchange.names import call_id, derived
from stello_graph.interchange.nodes import Node
from stello_graph.model.message import Draft, MessageRole, MessageState, ToolCall

__all__ = ["Drafts"]

SYNTHETIC = {"type": "chatgpt", "synthetic": True}


class Drafts:
    """Makes the drafts of one conversation, step by step in the order of the steps.

    An id says all of its message, in whatever state of the export: a result is named for its last
    output, a call without output is marked, and ids that an earlier step has are lengthened for the
    whole step, so that call and result stay together.
    """

    def __init__(self, conversation_id: str, pieces: Mapping[Node, Piece]) -> None:
        self._id = conversation_id
        self._pieces = pieces
        self._taken: set[str] = set()

    def of(self, nodes: tuple[Node, ...], before: int | None) -> tuple[Draft, ...]:
        """The messages of the step made of `nodes`, each result next to its call.

        Args:
            before: the time of the message before, for messages that have none.
        """
        groups = groups_of(nodes, self._pieces)
        ids = [derived(self._id, *names) for group in groups for names in _names(group)]
        if not self._taken.isdisjoint(ids):
            ids = [derived(id, nodes[-1].name) for id in ids]
        self._taken.update(ids)
        return tuple(self._drafts(groups, iter(ids), before))

    def _drafts(self, groups: list[Group], ids: Iterator[str], before: int | None) -> Iterator[Draft]:
        for group in groups:
            if group.said:
                draft = self._said(next(ids), self._pieces[group.said], before)
            else:
                call = self._call(next(ids), group, before)
                yield call
                draft = self._result(next(ids), group, call)
            yield draft
            before = draft.created_at

    def _said(self, id: str, piece: Piece, before: int | None) -> Draft:
        return Draft(
            id=id,
            role=MessageRole.USER if piece.kind is Kind.USER else MessageRole.ASSISTANT,
            content=piece.text,
            parts=piece.parts,
            state=MessageState.TRUNCATED if piece.is_cut else MessageState.COMPLETE,
            model=piece.model,
            created_at=piece.created_at or before,
        )

    def _call(self, id: str, group: Group, before: int | None) -> Draft:
        if group.call:
            piece = self._pieces[group.call]
        else:
            created_at = self._pieces[group.outputs[0]].created_at
            piece = Piece(Kind.CALL, parts=[SYNTHETIC], arguments={}, created_at=created_at)
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

    def _result(self, id: str, group: Group, call: Draft) -> Draft:
        outputs = [self._pieces[node] for node in group.outputs]
        return Draft(
            id=id,
            role=MessageRole.TOOL,
            content="\n\n".join(piece.text for piece in outputs if piece.text) if outputs else NO_RESULT,
            parts=_parts([piece for piece in outputs if piece.text or piece.parts]),
            state=MessageState.COMPLETE if outputs else MessageState.CANCELLED,
            tool_call_id=call.tool_calls[0].id,
            tool_name=group.tool,
            is_error=not outputs or any(piece.is_error for piece in outputs),
            created_at=next((piece.created_at for piece in outputs if piece.created_at), call.created_at),
        )


def _names(group: Group) -> list[tuple[str, ...]]:
    """What the ids of the group's messages are made of. Names with a dot are none of the file's."""
    if group.said:
        return [(group.said.name,)]
    if group.call and not group.outputs:
        return [(group.call.name, ".open"), (group.call.name, ".result")]
    result = group.outputs[-1].name
    return [(group.call.name,) if group.call else (result, ".call"), (result,)]


def _parts(outputs: list[Piece]) -> list[Any] | None:
    if len(outputs) < 2:
        return outputs[0].parts if outputs else None
    return list(_blocks(outputs))


def _blocks(outputs: list[Piece]) -> Iterator[Any]:
    for piece in outputs:
        if piece.text:
            yield {"type": "text", "text": piece.text}
        yield from piece.parts or ()
