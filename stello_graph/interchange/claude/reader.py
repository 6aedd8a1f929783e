"""Reads a whole export, one conversation at a time."""

from collections.abc import Iterator
from typing import Any

from stello_graph.interchange.branches import MessageTree, Step
from stello_graph.interchange.claude.nodes import node_tree
from stello_graph.interchange.claude.pieces import Piece, piece_of
from stello_graph.interchange.claude.steps import StepTree
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
from stello_graph.interchange.text import Cleaner, Unfit, label_of
from stello_graph.interchange.times import micros

__all__ = ["read"]

DEFAULT_LABEL = "Claude conversation"
NO_MESSAGES = "it has no chat_messages"
UNFIT = "its metadata is nested too deeply"
LOST_CURRENT = (
    "its current_leaf_message_uuid leads to no message: the latest branch is taken for the current one"
)

_METADATA = ("uuid", "summary", "model", "project_uuid", "project", "settings", "platform")


def read(stream: Source, max_object: int = MAX_OBJECT) -> Iterator[ImportedConversation | Skipped]:
    """Reads an array of conversations, or one conversation. No conversation spoils another one.

    It holds one conversation at a time in memory.
    """
    return conversations(
        stream, max_object, "Claude", "name", lambda entry, where: _Conversation(entry, where).read()
    )


class _Conversation:
    """One conversation on its way from the file to a plan."""

    def __init__(self, entry: dict[str, Any], where: str) -> None:
        self._entry = entry
        self._where = where
        self._cleaner = Cleaner()
        self._skipped: list[Skipped] = []
        self._repaired: list[Repaired] = []
        self._hidden = 0

    def read(self) -> Iterator[ImportedConversation | Skipped]:
        """The conversation, or what was wrong with it."""
        messages = self._entry.get("chat_messages")
        messages = list(messages.values()) if isinstance(messages, dict) else messages
        if not isinstance(messages, list):
            yield Skipped(where=self._where, why=NO_MESSAGES)
            return
        nodes = node_tree(messages)
        pieces = {node: self._piece(node) for node in nodes}
        id = derived("claude", name_of(self._foreign_id(pieces)))
        created_at = micros(self._entry.get("created_at"))
        tree = StepTree(id, nodes, pieces, created_at)
        if not tree.steps:
            yield from self._skipped
            yield Skipped(where=self._where, why=NO_MESSAGE)
            return
        current = self._current(nodes, tree)
        self._repaired.extend(
            Repaired(where=self._at(node), why=node.remark) for node in nodes if node.remark
        )
        message_tree = self._message_tree(id, tree, current, created_at)
        if self._cleaner.replaced:
            self._repaired.append(Repaired(where=self._where, why=CHARACTERS))
        yield ImportedConversation(
            id=id,
            where=self._where,
            tree=message_tree,
            skipped=tuple(self._skipped),
            repaired=tuple(self._repaired),
            hidden=self._hidden,
        )

    def _piece(self, node: Node) -> Piece:
        try:
            piece = piece_of(node.message, self._entry.get("model"), self._cleaner)
        except Malformed as error:
            self._skipped.append(Skipped(where=self._at(node), why=str(error)))
            return Piece()
        self._hidden += not piece.groups
        return piece

    def _at(self, node: Node) -> str:
        return f"{self._where}, message {label_of(node.key[:60])}"

    def _foreign_id(self, pieces: dict[Node, Piece]) -> str:
        """The conversation's id, else one made of how it begins, which stays when it grows."""
        id = self._entry.get("uuid")
        if isinstance(id, str) and id:
            return id
        first = next(((node, piece.groups[0]) for node, piece in pieces.items() if piece.groups), None)
        return begin_of(first[0].name, first[1].text, first[0].created_at) if first else begin_of()

    def _current(self, nodes: list[Node], tree: StepTree) -> Step:
        step, is_lost = current_step(nodes, tree, self._entry.get("current_leaf_message_uuid"))
        if is_lost:
            self._repaired.append(Repaired(where=self._where, why=LOST_CURRENT))
        return step

    def _message_tree(self, id: str, tree: StepTree, current: Step, created_at: int | None) -> MessageTree:
        entry = self._entry
        return MessageTree(
            id=id,
            label=label_of(entry.get("name"), DEFAULT_LABEL),
            steps=tuple(tree.steps),
            current=current,
            created_at=created_at,
            updated_at=micros(entry.get("updated_at")),
            archived=entry.get("is_archived") is True,
            tags=("starred",) if entry.get("is_starred") is True else (),
            metadata=self._metadata(),
        )

    def _metadata(self) -> dict[str, Any] | None:
        kept = {key: self._entry[key] for key in _METADATA if self._entry.get(key)}
        try:
            return {"claude": self._cleaner.value(kept)} if kept else None
        except Unfit:
            self._repaired.append(Repaired(where=self._where, why=UNFIT))
            return None
