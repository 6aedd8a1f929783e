"""Reads a whole export, one conversation at a time."""

from collections.abc import Iterator, Mapping
from typing import Any

from stello_graph.interchange.chatgpt.nodes import node_tree
from stello_graph.interchange.chatgpt.pieces import Kind, Piece, piece_of
from stello_graph.interchange.chatgpt.steps import StepTree
from stello_graph.interchange.conversations import Found, Malformed, begin_of, conversations
from stello_graph.interchange.jsonstream import MAX_OBJECT, Source
from stello_graph.interchange.nodes import Node
from stello_graph.interchange.reading import About, Reading
from stello_graph.interchange.times import micros

__all__ = ["read"]

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


def read(stream: Source, max_object: int = MAX_OBJECT) -> Iterator[Found]:
    """Reads an array of conversations, or one conversation."""
    return conversations(
        stream,
        max_object,
        "ChatGPT",
        lambda entry: entry.get("title"),
        lambda entry, where: _Conversation(entry, where).read(),
    )


class _Conversation(Reading[Piece]):
    format = "chatgpt"
    label = "ChatGPT conversation"
    lost_current = LOST_CURRENT
    nothing = Piece(Kind.HIDDEN, counts=False)

    def __init__(self, entry: dict[str, Any], where: str) -> None:
        mapping = entry.get("mapping")
        if not isinstance(mapping, dict):
            raise Malformed(NO_MAPPING)
        super().__init__(_about(entry), node_tree(mapping), where)
        model = entry.get("default_model_slug")
        self._model = model if isinstance(model, str) else None

    def piece(self, node: Node) -> Piece:
        piece = piece_of(node.message, self._model, self.cleaner)
        self.hidden += piece.kind is Kind.HIDDEN and piece.counts
        return piece

    def beginning(self, pieces: Mapping[Node, Piece]) -> str:
        first = next(((node, piece) for node, piece in pieces.items() if piece.text), None)
        return begin_of(first[0].name, first[1].text, first[1].created_at) if first else begin_of()

    def steps(self, id: str, pieces: Mapping[Node, Piece]) -> StepTree:
        tree = StepTree(id, self.nodes, pieces, self.about.created_at)
        self.hidden += tree.left_out
        return tree


def _about(entry: dict[str, Any]) -> About:
    ids = (entry.get("conversation_id"), entry.get("id"))
    return About(
        id=next((id for id in ids if isinstance(id, str) and id), None),
        title=entry.get("title"),
        current=entry.get("current_node"),
        created_at=micros(entry.get("create_time")),
        updated_at=micros(entry.get("update_time")),
        archived=entry.get("is_archived") is True,
        tags=("starred",) if entry.get("is_starred") is True else (),
        metadata={key: entry[key] for key in _METADATA if isinstance(entry.get(key), str)},
    )
