"""Reads a whole export, one conversation at a time."""

from collections.abc import Iterator
from typing import Any

from stello_graph.interchange.branches import MessageTree, Step
from stello_graph.interchange.chatgpt.nodes import node_tree
from stello_graph.interchange.chatgpt.pieces import Kind, Piece, piece_of
from stello_graph.interchange.chatgpt.steps import StepTree
from stello_graph.interchange.conversations import (
    CHARACTERS,
    NO_MESSAGE,
    Malformed,
    begin_of,
    conversations,
    current_step,
)
from stello_graph.interchange.jsonstream import MAX_OBJECT, Source
from stello_graph.interchange.names import derived, name_of
from stello_graph.interchange.nodes import Node
from stello_graph.interchange.plan import ImportedConversation, Repaired, Skipped
from stello_graph.interchange.text import Cleaner, label_of
from stello_graph.interchange.times import micros

__all__ = ["read"]

DEFAULT_LABEL = "ChatGPT conversation"
NO_MAPPING = "it has no mapping"
LOST_CURRENT = "its current_node leads to no message: the latest branch is taken for the current one"

_METADATA = (
    "conversation_id",
    "conversation_origin",
    "conversation_template_id",
    "default_model_slug",
    "gizmo_id",
    "gizmo_type",
    "memory_scope",
)


def read(stream: Source, max_object: int = MAX_OBJECT) -> Iterator[ImportedConversation | Skipped]:
    """Reads an array of conversations, or one conversation. No conversation spoils another one.

    It holds one conversation at a time in memory.
    """
    return conversations(
        stream, max_object, "ChatGPT", "title", lambda entry, where: _Conversation(entry, where).read()
    )


class _Conversation:
    """One conversation on its way from the file to a plan."""

    def __init__(self, entry: dict[str, Any], where: str) -> None:
        self._entry = entry
        self._where = where
        self._cleaner = Cleaner()
        self._skipped: list[Skipped] = []
        self._repaired: list[Repaired] = []

    def read(self) -> Iterator[ImportedConversation | Skipped]:
        """The conversation, or what was wrong with it."""
        mapping = self._entry.get("mapping")
        if not isinstance(mapping, dict):
            yield Skipped(where=self._where, why=NO_MAPPING)
            return
        nodes = node_tree(mapping)
        pieces = {node: self._piece(node) for node in nodes}
        id = derived("chatgpt", name_of(self._foreign_id(pieces)))
        created_at = micros(self._entry.get("create_time"))
        tree = StepTree(id, nodes, pieces, created_at)
        if not tree.steps:
            yield from self._skipped
            yield Skipped(where=self._where, why=NO_MESSAGE)
            return
        current = self._current(nodes, tree)
        for node in nodes:
            if node.remark:
                self._repaired.append(Repaired(where=self._at(node), why=node.remark))
        if self._cleaner.replaced:
            self._repaired.append(Repaired(where=self._where, why=CHARACTERS))
        yield ImportedConversation(
            id=id,
            where=self._where,
            tree=self._message_tree(id, tree, current, created_at),
            skipped=tuple(self._skipped),
            repaired=tuple(self._repaired),
            hidden=tree.left_out + sum(each.kind is Kind.HIDDEN and each.counts for each in pieces.values()),
        )

    def _piece(self, node: Node) -> Piece:
        model = self._entry.get("default_model_slug")
        try:
            return piece_of(node.message, model if isinstance(model, str) else None, self._cleaner)
        except Malformed as error:
            self._skipped.append(Skipped(where=self._at(node), why=str(error)))
            return Piece(Kind.HIDDEN, counts=False)

    def _at(self, node: Node) -> str:
        return f"{self._where}, message {label_of(node.key[:60])}"

    def _foreign_id(self, pieces: dict[Node, Piece]) -> str:
        """The conversation's id, else one made of how it begins, which stays when it grows."""
        for key in ("conversation_id", "id"):
            id = self._entry.get(key)
            if isinstance(id, str) and id:
                return id
        first = next(((node, piece) for node, piece in pieces.items() if piece.text), None)
        return begin_of(first[0].name, first[1].text, first[1].created_at) if first else begin_of()

    def _current(self, nodes: list[Node], tree: StepTree) -> Step:
        step, is_lost = current_step(nodes, tree, self._entry.get("current_node"))
        if is_lost:
            self._repaired.append(Repaired(where=self._where, why=LOST_CURRENT))
        return step

    def _message_tree(self, id: str, tree: StepTree, current: Step, created_at: int | None) -> MessageTree:
        entry = self._entry
        kept = {key: entry[key] for key in _METADATA if isinstance(entry.get(key), str)}
        return MessageTree(
            id=id,
            label=label_of(entry.get("title"), DEFAULT_LABEL),
            steps=tuple(tree.steps),
            current=current,
            created_at=created_at,
            updated_at=micros(entry.get("update_time")),
            archived=entry.get("is_archived") is True,
            tags=("starred",) if entry.get("is_starred") is True else (),
            metadata={"chatgpt": self._cleaner.value(kept)} if kept else None,
        )
