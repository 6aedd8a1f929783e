"""The nodes of a conversation as the tree that they mean to be."""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from stello_graph.interchange.names import name_of
from stello_graph.interchange.times import micros

__all__ = ["CYCLE", "NO_PARENT", "Node", "node_tree"]

NO_PARENT = "its parent is not in the file: kept as a branch of its own"
CYCLE = "its parents form a circle: cut before its earliest message"

_KNOWN_ROOT = "client-created-root"


@dataclass(eq=False, slots=True)
class Node:
    """One entry of `mapping`.

    Attributes:
        name: its part of our ids: the message's own id, or the key where that is missing or not unique.
        entry: what the file has under the key, which may be anything.
        place: among all nodes of the file.
        detached: whether the file does not say where its tree belongs.
        remark: what had to be repaired.
    """

    key: str
    name: str
    entry: Any
    place: int
    parent: "Node | None" = None
    children: list["Node"] = field(default_factory=list)
    detached: bool = False
    remark: str | None = None

    @property
    def message(self) -> Any:
        """The message as the file has it."""
        return self.entry.get("message") if isinstance(self.entry, dict) else self.entry

    @property
    def create_time(self) -> int | None:
        """UTC microseconds."""
        return micros(self.message.get("create_time")) if isinstance(self.message, dict) else None

    def below(self) -> Iterator["Node"]:
        """All nodes after this one, parents before children."""
        waiting = self.children[::-1]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))


def node_tree(mapping: Mapping[str, Any]) -> list[Node]:
    """All nodes, parents before children, a branch whole before the next one.

    Linear in the number of nodes, and without recursion: conversations may be tens of thousands deep.
    """
    names = zip(mapping.items(), _names(mapping), strict=True)
    nodes = {key: Node(key, name, entry, place) for place, ((key, entry), name) in enumerate(names)}
    _link(nodes)
    _cut_cycles(nodes)
    for node in nodes.values():
        if node.parent:
            node.parent.children.append(node)
    for node in nodes.values():
        _sort_children(node)
    roots = [node for node in nodes.values() if node.parent is None]
    roots.sort(key=lambda node: node.detached)
    ordered = [node for root in roots for node in (root, *root.below())]
    for node in ordered:
        node.detached = node.detached or (node.parent is not None and node.parent.detached)
    return ordered


def _names(mapping: Mapping[str, Any]) -> Iterator[str]:
    ids = [_message_id(entry) for entry in mapping.values()]
    counts: dict[str | None, int] = {}
    for id in ids:
        counts[id] = counts.get(id, 0) + 1
    for key, id in zip(mapping, ids, strict=True):
        is_unique = id is not None and counts[id] == 1 and (id == key or id not in mapping)
        yield name_of(id if id is not None and is_unique else key)


def _message_id(entry: Any) -> str | None:
    message = entry.get("message") if isinstance(entry, dict) else None
    id = message.get("id") if isinstance(message, dict) else None
    return id if isinstance(id, str) and id else None


def _listed_children(node: Node) -> list[str]:
    listed = node.entry.get("children") if isinstance(node.entry, dict) else None
    return [key for key in listed if isinstance(key, str)] if isinstance(listed, list) else []


def _link(nodes: Mapping[str, Node]) -> None:
    claims: dict[str, Node] = {}
    for node in nodes.values():
        for key in _listed_children(node):
            if key != node.key:
                claims.setdefault(key, node)
    for key, node in nodes.items():
        named = node.entry.get("parent") if isinstance(node.entry, dict) else None
        parent = nodes.get(named) if isinstance(named, str) and named != key else None
        node.parent = parent or claims.get(key)
        if node.parent is None and isinstance(named, str) and named not in ("", key, _KNOWN_ROOT):
            node.detached, node.remark = True, NO_PARENT


def _cut_cycles(nodes: Mapping[str, Node]) -> None:
    settled: set[Node] = set()
    for start in nodes.values():
        trail: dict[Node, None] = {}
        node: Node | None = start
        while node is not None and node not in settled and node not in trail:
            trail[node] = None
            node = node.parent
        if node is not None and node in trail:
            _cut(_circle(node))
        settled.update(trail)


def _circle(node: Node) -> list[Node]:
    circle = [node]
    while (above := circle[-1].parent) is not None and above is not node:
        circle.append(above)
    return circle[::-1]


def _cut(circle: list[Node]) -> None:
    first = min(circle, key=lambda node: (node.create_time or math.inf, node.place))
    first.parent, first.detached, first.remark = None, True, CYCLE


def _sort_children(node: Node) -> None:
    if len(node.children) < 2:
        return
    places: dict[str, int] = {}
    for place, key in enumerate(_listed_children(node)):
        places.setdefault(key, place)
    last = len(places)
    node.children.sort(key=lambda child: (places.get(child.key, last), child.create_time or 0))
