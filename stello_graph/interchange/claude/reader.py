"""Reads a whole export, one conversation at a time."""

from collections.abc import Iterator, Mapping
from typing import Any

from stello_graph.interchange.claude.nodes import node_tree
from stello_graph.interchange.claude.pieces import Call, Piece, Said, piece_of, text_in
from stello_graph.interchange.claude.steps import StepTree
from stello_graph.interchange.conversations import Found, Malformed, begin_of, conversations
from stello_graph.interchange.jsonstream import MAX_OBJECT, Source
from stello_graph.interchange.nodes import Node
from stello_graph.interchange.opencalls import OpenCalls
from stello_graph.interchange.reading import About, Reading
from stello_graph.interchange.times import micros

__all__ = ["read"]

NO_MESSAGES = "it has no chat_messages"
LOST_CURRENT = (
    "its current_leaf_message_uuid leads to no message: the latest branch is taken for the current one"
)

_METADATA = ("uuid", "summary", "model", "project_uuid", "project", "settings", "platform")


def read(stream: Source, max_object: int = MAX_OBJECT) -> Iterator[Found]:
    """Reads an array of conversations, or one conversation."""
    return conversations(
        stream,
        max_object,
        "Claude",
        lambda entry: entry.get("name"),
        lambda entry, where: _Conversation(entry, where).read(),
    )


class _Conversation(Reading[Piece]):
    format = "claude"
    label = "Claude conversation"
    lost_current = LOST_CURRENT
    nothing = Piece()

    def __init__(self, entry: dict[str, Any], where: str) -> None:
        messages = entry.get("chat_messages")
        messages = list(messages.values()) if isinstance(messages, dict) else messages
        if not isinstance(messages, list):
            raise Malformed(NO_MESSAGES)
        super().__init__(_about(entry), node_tree(messages), where)
        self._model = entry.get("model")
        self._path: dict[Node, None] = {}
        self._open = OpenCalls[Call]()

    def piece(self, node: Node) -> Piece:
        while self._path and next(reversed(self._path)) is not node.parent:
            self._path.popitem()
        self._path[node] = None
        piece = piece_of(node.message, self._model, self.cleaner)
        self.hidden += not piece.groups
        piece.groups, given = self._without_answers(node, piece.groups)
        piece.is_answer = given and not piece.groups
        return piece

    def _without_answers(self, node: Node, groups: list[Said | Call]) -> tuple[list[Said | Call], bool]:
        """What is left of a message when each answer to an open call above it has gone there, and whether
        one has.
        """
        left: list[Said | Call] = []
        for group in groups:
            if isinstance(group, Call) and group.asked is None and group.answer is not None:
                id = text_in(group.answer, "tool_use_id")
                call = self._open.take(id, self._path.__contains__) if id else None
                if call is not None:
                    call.answer_with(group, node.created_at)
                    continue
            left.append(group)
        for group in left:
            if isinstance(group, Call) and group.asked is not None and group.answer is None:
                self._open.add(node, group, text_in(group.asked, "id"))
        return left, len(left) < len(groups)

    def beginning(self, pieces: Mapping[Node, Piece]) -> str:
        first = next(((node, piece.groups[0]) for node, piece in pieces.items() if piece.groups), None)
        return begin_of(first[0].name, first[1].text, first[0].created_at) if first else begin_of()

    def steps(self, id: str, pieces: Mapping[Node, Piece]) -> StepTree:
        return StepTree(id, self.nodes, pieces, self.about.created_at)


def _about(entry: dict[str, Any]) -> About:
    id = entry.get("uuid")
    return About(
        id=id if isinstance(id, str) and id else None,
        title=entry.get("name"),
        current=entry.get("current_leaf_message_uuid"),
        created_at=micros(entry.get("created_at")),
        updated_at=micros(entry.get("updated_at")),
        archived=entry.get("is_archived") is True,
        tags=("starred",) if entry.get("is_starred") is True else (),
        metadata={key: entry[key] for key in _METADATA if entry.get(key)},
    )
