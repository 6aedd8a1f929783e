"""What is selected below a field, so that its resolver can read it in the same query.

What a document says of it is found out once, and kept as long as the document is.
"""

from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping
from typing import Any, Final, NamedTuple, TypeVar
from weakref import ref

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLField,
    GraphQLObjectType,
    GraphQLResolveInfo,
    InlineFragmentNode,
    SelectionNode,
    get_argument_values,
    get_named_type,
)
from graphql.execution.values import VariableValues

from stello_graph.graphql.context import Info
from stello_graph.graphql.executor import TYPE_NAME, needs_of
from stello_graph.model.parts import Only

__all__ = ["below", "only_below", "only_of_page"]

T = TypeVar("T")
_Fragments = Mapping[str, FragmentDefinitionNode]


def below(info: Info, *path: str) -> dict[str, Any] | None:
    """The arguments of the field that is selected at `path` below this one.

    None where it is not selected, or more than once, or where directives decide, or where its arguments
    are none: its own resolver then reads, or tells what is wrong.
    """
    found = _once(_find_field, info, *path)
    if found is None:
        return None
    try:
        return get_argument_values(*found, VariableValues({}, info.variable_values))
    except GraphQLError:
        return None


def only_below(info: Info, *path: str) -> Only | None:
    """The fields that are needed of what this field lists, or of what the one at `path` below it does.

    None where they are needed whole.
    """
    return _once(_find_only, info, *path)


def only_of_page(info: Info, cursor: str, *path: str) -> Only | None:
    """As `only_below`, for the connection that this field is, or that the one at `path` below it is.

    Args:
        cursor: the field that cursors are made of.
    """
    return _once(_find_only_of_page, info, cursor, *path)


def _find_field(raw: GraphQLResolveInfo[Any], *path: str) -> tuple[GraphQLField, FieldNode] | None:
    fields, nodes = _fields(raw.return_type), raw.field_nodes
    *parents, last = path
    for name in parents:
        nodes = _only_one(_named(name, nodes, raw.fragments))
        fields = _fields(fields[name].type)
    nodes = _only_one(_named(last, nodes, raw.fragments))
    return (fields[last], nodes[0]) if nodes else None


def _find_only(raw: GraphQLResolveInfo[Any], *path: str) -> Only | None:
    fields, nodes = _fields(raw.return_type), raw.field_nodes
    for name in path:
        fields = _fields(fields[name].type)
        nodes = [one.node for one in _named(name, nodes, raw.fragments)]
    needed: dict[str, None] = {}
    for one in _below(nodes, raw.fragments):
        name = one.node.name.value
        needs = () if name == TYPE_NAME else needs_of(fields[name])
        if needs is None:
            return None
        needed |= dict.fromkeys(needs)
    return tuple(needed)


def _find_only_of_page(raw: GraphQLResolveInfo[Any], cursor: str, *path: str) -> Only | None:
    ways = [_find_only(raw, *path, "nodes"), _find_only(raw, *path, "edges", "node")]
    needed = {cursor: None}
    for way in ways:
        if way is None:
            return None
        needed |= dict.fromkeys(way)
    return tuple(needed)


class _Memory:
    """What was found out about nodes of documents, which are compared by identity: by content takes long."""

    def __init__(self) -> None:
        self._known: dict[int, tuple[ref[FieldNode], dict[Hashable, Any]]] = {}

    def of(self, node: FieldNode) -> dict[Hashable, Any]:
        key = id(node)
        known = self._known.get(key)
        if known is None:
            known = self._known[key] = ref(node, lambda _: self._known.pop(key, None)), {}
        return known[1]


_MEMORY: Final = _Memory()


def _once(find: Callable[..., T], info: Info, *asked: str) -> T:
    """What `find` says of a field, from the second time on from memory.

    Nodes that are selected together are of one document. In a fragment the same node can stand in several types.
    """
    raw = info._raw_info
    first, *others = raw.field_nodes
    known = _MEMORY.of(first)
    key = find, asked, raw.return_type, *map(id, others)
    if key not in known:
        known[key] = find(raw, *asked)
    found: T = known[key]
    return found


class _Selected(NamedTuple):
    """A field that is selected; no directive decides whether where `is_sure`."""

    node: FieldNode
    is_sure: bool


def _fields(kind: Any) -> Mapping[str, GraphQLField]:
    named = get_named_type(kind)
    assert isinstance(named, GraphQLObjectType)
    fields: Mapping[str, GraphQLField] = named.fields
    return fields


def _only_one(found: Iterable[_Selected]) -> list[FieldNode]:
    """The field, in a list; none where there are several, or where a directive decides."""
    nodes = list(found)
    return [nodes[0].node] if len(nodes) == 1 and nodes[0].is_sure else []


def _named(name: str, roots: Iterable[FieldNode], fragments: _Fragments) -> Iterator[_Selected]:
    return (one for one in _below(roots, fragments) if one.node.name.value == name)


def _below(roots: Iterable[FieldNode], fragments: _Fragments) -> Iterator[_Selected]:
    for root in roots:
        if root.selection_set:
            yield from _selected(root.selection_set.selections, fragments, True)


def _selected(nodes: Iterable[SelectionNode], fragments: _Fragments, is_sure: bool) -> Iterator[_Selected]:
    for node in nodes:
        sure = is_sure and not node.directives
        if isinstance(node, FieldNode):
            yield _Selected(node, sure)
        elif isinstance(node, InlineFragmentNode):
            yield from _selected(node.selection_set.selections, fragments, sure)
        else:
            assert isinstance(node, FragmentSpreadNode)
            yield from _selected(fragments[node.name.value].selection_set.selections, fragments, sure)
