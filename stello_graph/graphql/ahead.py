"""What is selected below a field, so that its resolver can read it in the same query."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from graphql import (
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLError,
    GraphQLObjectType,
    InlineFragmentNode,
    SelectionNode,
    get_argument_values,
    get_named_type,
)
from graphql.execution.values import VariableValues

from stello_graph.graphql.context import Info

__all__ = ["below"]

_Fragments = Mapping[str, FragmentDefinitionNode]


class _Unsure(Exception):
    """A directive decides."""


def below(info: Info, name: str) -> dict[str, Any] | None:
    """The arguments of the field `name` that is selected below this one.

    None where it is not selected, or more than once, or where directives decide, or where its arguments
    are none: its own resolver then reads, or tells what is wrong.
    """
    raw = info._raw_info
    kind = get_named_type(raw.return_type)
    assert isinstance(kind, GraphQLObjectType)
    try:
        found = [node for root in raw.field_nodes for node in _below(root, name, raw.fragments)]
        if len(found) != 1:
            return None
        return get_argument_values(kind.fields[name], found[0], VariableValues({}, info.variable_values))
    except (_Unsure, GraphQLError):
        return None


def _below(root: FieldNode, name: str, fragments: _Fragments) -> Iterator[FieldNode]:
    return _selected(root.selection_set.selections if root.selection_set else (), name, fragments)


def _selected(nodes: Iterable[SelectionNode], name: str, fragments: _Fragments) -> Iterator[FieldNode]:
    for node in nodes:
        if isinstance(node, FieldNode):
            if node.name.value != name:
                continue
            found: Iterable[FieldNode] = (node,)
        elif isinstance(node, InlineFragmentNode):
            found = _selected(node.selection_set.selections, name, fragments)
        else:
            assert isinstance(node, FragmentSpreadNode)
            found = _selected(fragments[node.name.value].selection_set.selections, name, fragments)
        if node.directives:
            raise _Unsure
        yield from found
