"""The entries of `chat_messages` as a tree."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

from stello_graph.interchange.names import name_of
from stello_graph.interchange.nodes import CYCLE, NO_PARENT, Node, hang, in_order
from stello_graph.interchange.times import micros

__all__ = ["DOUBLE", "node_tree"]

DOUBLE = "another message has the same uuid: kept as a message of its own"

_PARENT = "parent_message_uuid"
_ABSENT = object()
_ROOTS = ("", "00000000-0000-4000-8000-000000000000", "00000000-0000-0000-0000-000000000000")


def node_tree(messages: Sequence[Any]) -> list[Node]:
    """All nodes, parents before children. A node's name is its uuid, or its place where that is missing or
    another one's.
    """
    nodes: dict[str, Node] = {}
    for place, message in enumerate(messages):
        node = _node(message, place, nodes)
        nodes[node.key] = node
    if any(isinstance(_get(message, _PARENT), str) for message in messages):
        _link(nodes)
    else:
        _chain(list(nodes.values()))
    hang(nodes.values())
    for node in nodes.values():
        node.children.sort(key=lambda child: child.created_at or 0)
    return in_order(nodes.values())


def _node(message: Any, place: int, before: Mapping[str, Node]) -> Node:
    uuid, created_at = _get(message, "uuid"), micros(_get(message, "created_at"))
    has_uuid = isinstance(uuid, str) and uuid != ""
    if has_uuid and uuid not in before:
        return Node(uuid, name_of(uuid), message, place, created_at)
    node = Node(f"number {place + 1}", f".n{place + 1}", message, place, created_at)
    node.remark = DOUBLE if has_uuid else None
    return node


def _link(nodes: Mapping[str, Node]) -> None:
    before: Node | None = None
    for node in nodes.values():
        named = _get(node.message, _PARENT, _ABSENT)
        if named is _ABSENT:
            node.parent = before
        elif isinstance(named, str) and named not in _ROOTS:
            node.parent = nodes.get(named)
            if node.parent is None or node.parent is node:
                node.detach(CYCLE if node.parent else NO_PARENT)
        before = node


def _chain(nodes: list[Node]) -> None:
    places = {node: _number(_get(node.message, "index")) for node in nodes}
    if None not in places.values():
        nodes.sort(key=lambda node: places[node] or 0)
    for before, node in pairwise(nodes):
        node.parent = before


def _number(index: Any) -> float | None:
    try:
        number = float(index)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if math.isfinite(number) else None


def _get(message: Any, key: str, default: Any = None) -> Any:
    return message.get(key, default) if isinstance(message, dict) else default
