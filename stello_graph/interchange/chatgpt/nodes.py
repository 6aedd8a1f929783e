"""The entries of `mapping` as a tree."""

from collections.abc import Iterator, Mapping
from typing import Any

from stello_graph.interchange.names import name_of
from stello_graph.interchange.nodes import Node, tree_of
from stello_graph.interchange.times import micros

__all__ = ["node_tree"]

_KNOWN_ROOT = "client-created-root"


def node_tree(mapping: Mapping[str, Any]) -> list[Node]:
    """All nodes, parents before children. A node's name is its message's own id, or its key where that is
    missing or not unique.
    """
    names = zip(mapping.items(), _names(mapping), strict=True)
    return tree_of(
        {key: _node(key, name, entry, place) for place, ((key, entry), name) in enumerate(names)},
        {key: _parent(entry, mapping) for key, entry in mapping.items()},
        {key: _listed_children(entry) for key, entry in mapping.items()},
    )


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


def _parent(entry: Any, mapping: Mapping[str, Any]) -> str | None:
    named = entry.get("parent") if isinstance(entry, dict) else None
    is_parent = isinstance(named, str) and (named in mapping or named not in ("", _KNOWN_ROOT))
    return named if is_parent else None


def _listed_children(entry: Any) -> list[str]:
    listed = entry.get("children") if isinstance(entry, dict) else None
    return [key for key in listed if isinstance(key, str)] if isinstance(listed, list) else []
