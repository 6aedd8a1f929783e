"""How much an operation asks for, before it runs: its depth, its aliases, and the nodes that it may answer.

Fragments are resolved and fields of one name merged, as in the execution. What a variable, an argument's
default or a literal says is the size of a list; directives are not looked at, and introspection costs nothing.
"""

from collections.abc import Mapping
from typing import Any, NamedTuple

from graphql import (
    DocumentNode,
    FieldNode,
    FragmentDefinitionNode,
    FragmentSpreadNode,
    GraphQLField,
    GraphQLInputType,
    GraphQLInterfaceType,
    GraphQLObjectType,
    GraphQLSchema,
    InlineFragmentNode,
    IntValueNode,
    ListValueNode,
    OperationDefinitionNode,
    SelectionSetNode,
    VariableNode,
    get_named_type,
    get_nullable_type,
    is_list_type,
)

from stello_graph.errors import LimitExceeded

__all__ = ["Cost", "Shape", "cost_of", "numbers_in", "operation_of", "shape_of"]

# A list that does not say how many, and a page whose size has no default.
_UNTOLD = 50
# Of fields: beyond any document that a person or a program writes.
_STEPS = 20_000

_Composite = GraphQLObjectType | GraphQLInterfaceType
_Merged = dict[tuple[str, str], list[tuple[_Composite, FieldNode]]]


class Shape(NamedTuple):
    """What the text alone tells: levels of selections below the operation, and aliases."""

    depth: int
    aliases: int


class Cost(NamedTuple):
    """What an operation may answer at most.

    Attributes:
        nodes: items of all lists of objects, each as often as the lists around it have items.
        page: the largest page that it asks for, 0 for none.
    """

    nodes: int
    page: int


def operation_of(document: DocumentNode, name: str | None) -> OperationDefinitionNode | None:
    """The operation that would run: the named one, without a name the first."""
    operations = [node for node in document.definitions if isinstance(node, OperationDefinitionNode)]
    named = (node for node in operations if not name or (node.name is not None and node.name.value == name))
    return next(named, None)


def shape_of(document: DocumentNode, operation: OperationDefinitionNode) -> Shape:
    """Depth and aliases of a document that may not be valid: unknown fragments and cycles count nothing.

    Raises:
        RecursionError: it is nested too deep to be walked.
    """
    return _Shapes(document).of(operation.selection_set)


def numbers_in(operation: OperationDefinitionNode, variables: Mapping[str, Any] | None) -> dict[str, int]:
    """All that its variables say about sizes: whole numbers as they are, lists by their lengths.

    Only of what the operation declares. One that is not given has its default, one that is null says nothing.
    """
    found, given = {}, variables or {}
    for definition in operation.variable_definitions or ():
        name = definition.variable.name.value
        size = _size_of(given[name]) if name in given else _size_in(definition.default_value)
        if size is not None:
            found[name] = size
    return found


def cost_of(
    schema: GraphQLSchema,
    document: DocumentNode,
    operation: OperationDefinitionNode,
    numbers: Mapping[str, int],
) -> Cost:
    """The cost of a valid operation, whose variables say `numbers`: see `numbers_in`.

    Raises:
        LimitExceeded: there are more fields than are counted.
    """
    return _Costs(schema, document, operation, numbers).total()


def _fragments(document: DocumentNode) -> dict[str, FragmentDefinitionNode]:
    return {
        node.name.value: node for node in document.definitions if isinstance(node, FragmentDefinitionNode)
    }


class _Shapes:
    def __init__(self, document: DocumentNode) -> None:
        self._fragments = _fragments(document)
        self._known: dict[str, Shape] = {}

    def of(self, selected: SelectionSetNode) -> Shape:
        depth = aliases = 0
        for node in selected.selections:
            below = 0
            match node:
                case FieldNode():
                    inner = Shape(0, 0) if node.selection_set is None else self.of(node.selection_set)
                    aliases += (node.alias is not None) + inner.aliases
                    if node.selection_set is not None and not node.name.value.startswith("__"):
                        below = 1 + inner.depth
                case InlineFragmentNode():
                    inner = self.of(node.selection_set)
                    below, aliases = inner.depth, aliases + inner.aliases
                case FragmentSpreadNode():
                    inner = self._of_fragment(node.name.value)
                    below, aliases = inner.depth, aliases + inner.aliases
            depth = max(depth, below)
        return Shape(depth, aliases)

    def _of_fragment(self, name: str) -> Shape:
        if name not in self._known:
            self._known[name] = Shape(0, 0)
            if name in self._fragments:
                self._known[name] = self.of(self._fragments[name].selection_set)
        return self._known[name]


class _Costs:
    def __init__(
        self,
        schema: GraphQLSchema,
        document: DocumentNode,
        operation: OperationDefinitionNode,
        numbers: Mapping[str, int],
    ) -> None:
        self._schema = schema
        self._operation = operation
        self._fragments = _fragments(document)
        self._numbers = numbers
        self._known: dict[tuple[int | None, tuple[tuple[str, int], ...]], int] = {}
        self._steps = 0
        self._page = 0

    def total(self) -> Cost:
        root = self._schema.get_root_type(self._operation.operation)
        if root is None:
            return Cost(0, 0)
        nodes = self._below([(root, self._operation.selection_set)], None)
        return Cost(nodes, self._page)

    def _below(self, selected: list[tuple[_Composite, SelectionSetNode]], page: int | None) -> int:
        """Nodes below one object; `page` is the size of the connection that it is."""
        key = page, tuple((kind.name, id(node)) for kind, node in selected)
        if key not in self._known:
            merged: _Merged = {}
            for kind, node in selected:
                self._collect(kind, node, merged, set())
            self._known[key] = sum(self._of_field(found, page) for found in merged.values())
        return self._known[key]

    def _of_field(self, found: list[tuple[_Composite, FieldNode]], page: int | None) -> int:
        self._steps += 1
        if self._steps > _STEPS:
            raise LimitExceeded("the operation has too many fields to be counted")
        kind, node = found[0]
        field = kind.fields.get(node.name.value)
        inner = None if field is None else get_named_type(field.type)
        if field is None or not isinstance(inner, _Composite):
            return 0
        selected = [(inner, node.selection_set) for _, node in found if node.selection_set is not None]
        size = max(self._size(field, node) for _, node in found)
        if not is_list_type(get_nullable_type(field.type)):
            return self._below(selected, size or None)
        return (size or page or _UNTOLD) * (1 + self._below(selected, None))

    def _collect(self, kind: _Composite, node: SelectionSetNode, merged: _Merged, seen: set[str]) -> None:
        for selection in node.selections:
            match selection:
                case FieldNode():
                    name = (selection.alias or selection.name).value
                    merged.setdefault((kind.name, name), []).append((kind, selection))
                case InlineFragmentNode():
                    condition = selection.type_condition
                    inner = kind if condition is None else self._composite(condition.name.value, kind)
                    self._collect(inner, selection.selection_set, merged, seen)
                case FragmentSpreadNode() if selection.name.value not in seen:
                    seen.add(selection.name.value)
                    fragment = self._fragments[selection.name.value]
                    inner = self._composite(fragment.type_condition.name.value, kind)
                    self._collect(inner, fragment.selection_set, merged, seen)

    def _composite(self, name: str, otherwise: _Composite) -> _Composite:
        found = self._schema.type_map.get(name)
        return found if isinstance(found, _Composite) else otherwise

    def _size(self, field: GraphQLField, node: FieldNode) -> int:
        """How many items the arguments ask for; 0 where they do not say."""
        given = {argument.name.value: argument.value for argument in node.arguments or ()}
        pages = [name for name in ("first", "last") if name in field.args]
        if not pages:
            lists = (name for name, argument in field.args.items() if _is_list(argument.type))
            return max((self._length(given.get(name)) for name in lists), default=0)
        asked = [size for name in pages if (size := self._number(given.get(name))) is not None]
        self._page = max(self._page, *asked, 0)
        defaults = [field.args[name].default_value for name in pages]
        told = asked or [size for size in defaults if isinstance(size, int)]
        return max(1, *(told or [_UNTOLD]))

    def _number(self, value: Any) -> int | None:
        match value:
            case IntValueNode() if len(value.value) < 16:
                return int(value.value)
            case VariableNode():
                return self._numbers.get(value.name.value)
        return None

    def _length(self, value: Any) -> int:
        match value:
            case ListValueNode():
                return len(value.values)
            case VariableNode():
                return self._numbers.get(value.name.value, 0)
        return 0


def _is_list(kind: GraphQLInputType) -> bool:
    return is_list_type(get_nullable_type(kind))


def _size_of(value: object) -> int | None:
    if isinstance(value, list):
        return len(value)
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if abs(value) < 2**53 else None


def _size_in(value: object) -> int | None:
    match value:
        case IntValueNode() if len(value.value) < 16:
            return int(value.value)
        case ListValueNode():
            return len(value.values)
    return None
