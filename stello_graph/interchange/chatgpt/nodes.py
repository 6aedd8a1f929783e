"""The entries of `mapping` as a tree."""

from collections.abc import Iterator, Mapping
from typing import Any

from stello_graph.interchange.names import name_of
from stello_graph.interchange.nodes import NO_PARENT, Node, cut_cycles, in_order
from stello_graph.interchange.times import micros

__all__ = ["node_tree"]

_KNOWN_ROOT = "client-created-root"


def node_tree(mapping: Mapping[str, Any]) -> list[Node]:
    """All nodes, parents before children. A node's name is its message's own id, or its key where that is
    missing or not unique.
    """
    names = zip(mapping.items(), _names(mapping), strict=True)
    nodes = {key: _node(key, name, entry, place) for place, ((key, entry), name) in enumerate(names)}
    listed = {key: _listed_children(key, entry) for key, entry in mapping.items()}
    _link(nodes, mapping, listed)
    cut_cycles(nodes.values())
    for node in nodes.values():
        if node.parent:
            node.parent.children.append(node)
    for node in nodes.values():
        _sort_children(node, listed[node.key])
    return in_order(nodes.values())


def _node(key: str, name: str, entry: Any, place: int) -> Node:
    message = entry.get("message") if isinstance(entry, dict) else entry
    created_at = micros(message.get("create_time")) if isinstance(message, dict) else None
    return Node(key, name, message, place, created_at)


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


def _listed_children(own_key: str, entry: Any) -> list[str]:
    listed = entry.get("children") if isinstance(entry, dict) else None
    keys = listed if isinstance(listed, list) else []
    return [key for key in keys if isinstance(key, str) and key != own_key]


def _link(nodes: Mapping[str, Node], mapping: Mapping[str, Any], listed: Mapping[str, list[str]]) -> None:
    claims: dict[str, Node] = {}
    for node in nodes.values():
        for key in listed[node.key]:
            claims.setdefault(key, node)
    for (key, node), entry in zip(nodes.items(), mapping.values(), strict=True):
        named = entry.get("parent") if isinstance(entry, dict) else None
        parent = nodes.get(named) if isinstance(named, str) and named != key else None
        node.parent = parent or claims.get(key)
        if node.parent is None and isinstance(named, str) and named not in ("", key, _KNOWN_ROOT):
            node.detach(NO_PARENT)


def _sort_children(node: Node, listed: list[str]) -> None:
    if len(node.children) < 2:
        return
    places: dict[str, int] = {}
    for place, key in enumerate(listed):
        places.setdefault(key, place)
    last = len(places)
    node.children.sort(key=lambda child: (places.get(child.key, last), child.created_at or 0))
