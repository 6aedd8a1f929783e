"""The messages of a conversation as the tree that they mean to be, whatever the file says of parents."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

__all__ = ["CYCLE", "NO_PARENT", "Node", "hang", "in_order", "tree_of"]

NO_PARENT = "its parent is not in the file: kept as a branch of its own"
CYCLE = "its parents form a circle: cut before its earliest message"


@dataclass(eq=False, slots=True)
class Node:
    """A place in the tree.

    Attributes:
        key: what the file calls it.
        name: its part of our ids, unique.
        message: as the file has it, which may be anything.
        place: among all nodes of the file.
        created_at: UTC microseconds, None where the file does not say.
        detached: whether the file does not say where its tree belongs.
        remark: what had to be repaired.
    """

    key: str
    name: str
    message: Any
    place: int
    created_at: int | None = None
    parent: "Node | None" = None
    children: list["Node"] = field(default_factory=list)
    detached: bool = False
    remark: str | None = None

    def below(self) -> Iterator["Node"]:
        """All nodes after this one, parents before children."""
        waiting = self.children[::-1]
        while waiting:
            node = waiting.pop()
            yield node
            waiting.extend(reversed(node.children))

    def detach(self, why: str) -> None:
        """Makes it the beginning of a tree that belongs nowhere."""
        self.parent, self.detached, self.remark = None, True, why


def tree_of(
    nodes: Mapping[str, Node], parents: Mapping[str, str | None], listed: Mapping[str, Sequence[str]]
) -> list[Node]:
    """All nodes, parents before children. What a node says of its parent is the truth, where that is there.

    Args:
        nodes: by their keys.
        parents: the key of the parent that a node names, None where it is a beginning.
        listed: the keys of the children that a node names; they count where those name no parent, and say
            in which order children come.
    """
    claims: dict[str, Node] = {}
    for key, node in nodes.items():
        for child in listed[key]:
            if child != key:
                claims.setdefault(child, node)
    for key, node in nodes.items():
        named = parents[key]
        node.parent = (nodes.get(named) if named is not None and named != key else None) or claims.get(key)
        if node.parent is None and named not in (None, key):
            node.detach(NO_PARENT)
    hang(nodes.values())
    for key, node in nodes.items():
        _sort_children(node, listed[key])
    return in_order(nodes.values())


def hang(nodes: Collection[Node]) -> None:
    """Cuts circles, then gives each node its children."""
    _cut_cycles(nodes)
    for node in nodes:
        if node.parent:
            node.parent.children.append(node)


def _sort_children(node: Node, listed: Sequence[str]) -> None:
    if len(node.children) < 2:
        return
    places: dict[str, int] = {}
    for place, key in enumerate(listed):
        places.setdefault(key, place)
    last = len(places)
    node.children.sort(key=lambda child: (places.get(child.key, last), child.created_at or 0))


def in_order(nodes: Collection[Node]) -> list[Node]:
    """All nodes, parents before children, a branch whole before the next one, detached trees last.

    Linear in the number of nodes, and without recursion: conversations may be tens of thousands deep.
    """
    roots = [node for node in nodes if node.parent is None]
    roots.sort(key=lambda node: node.detached)
    ordered = [node for root in roots for node in (root, *root.below())]
    for node in ordered:
        node.detached = node.detached or (node.parent is not None and node.parent.detached)
    return ordered


def _cut_cycles(nodes: Collection[Node]) -> None:
    """Detaches the earliest message of each circle of parents. Looks at parents alone."""
    settled: set[Node] = set()
    for start in nodes:
        trail: dict[Node, None] = {}
        node: Node | None = start
        while node is not None and node not in settled and node not in trail:
            trail[node] = None
            node = node.parent
        if node is not None and node in trail:
            first = min(_circle(node), key=lambda each: (each.created_at or math.inf, each.place))
            first.detach(CYCLE)
        settled.update(trail)


def _circle(node: Node) -> list[Node]:
    circle = [node]
    while (above := circle[-1].parent) is not None and above is not node:
        circle.append(above)
    return circle[::-1]
