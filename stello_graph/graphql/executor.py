"""An executor that completes lists of plain rows in one go.

graphql-core walks a list item by item and field by field, 4 to 5 µs a scalar. Where a selection
holds nothing but leaves of default resolvers, the answer is known column by column: measured 3.5
times as fast for 8 rows, 16 times for 500. Everything else, and everything that is not as it
should be, falls back to graphql-core, whose errors are the right ones.
"""

from collections.abc import Callable, Iterable
from operator import attrgetter
from typing import Any, NamedTuple

from graphql import GraphQLNonNull, GraphQLObjectType, GraphQLResolveInfo
from graphql.pyutils import AwaitableOrValue, Path
from graphql.type import GraphQLEnumType, GraphQLLeafType, GraphQLOutputType, GraphQLScalarType
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext
from strawberry.types.field import StrawberryField

from stello_graph.ports.answers import Answer, current_answer

__all__ = ["RowExecutor"]

_COUNTED = {"String", "JSON"}
_PLAIN: dict[str, set[type]] = {"String": {str}, "ID": {str}, "Boolean": {bool}}


class _Column(NamedTuple):
    name: str
    attribute: str
    nullable: bool
    plain: set[type]
    convert: Callable[[Any], Any]
    counts: bool = False


class RowExecutor(StrawberryGraphQLCoreExecutionContext):
    """graphql-core's executor with the short way for rows."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """See graphql-core."""
        super().__init__(*args, **kwargs)
        self._answer = current_answer()
        self._plans: dict[int, tuple[Any, list[_Column] | None]] = {}

    def complete_iterable_value(
        self,
        item_type: GraphQLOutputType,
        field_details_list: Any,
        info: GraphQLResolveInfo[Any],
        path: Path,
        items: Iterable[Any],
        position_context: Any,
    ) -> AwaitableOrValue[list[Any]]:
        """See graphql-core."""
        if isinstance(items, list | tuple) and items:
            plan = self._plan(item_type, field_details_list)
            rows = None if plan is None else _complete(plan, items, self._answer)
            if rows is not None:
                return rows
        return super().complete_iterable_value(
            item_type, field_details_list, info, path, items, position_context
        )

    def complete_leaf_value(self, return_type: GraphQLLeafType, result: Any) -> Any:  # type: ignore[override]
        """See graphql-core. Texts count."""
        value = super().complete_leaf_value(return_type, result)
        if self._answer is not None and return_type.name in _COUNTED:
            self._answer.tells(value)
        return value

    def _plan(self, item_type: GraphQLOutputType, field_details_list: Any) -> list[_Column] | None:
        # The list is kept beside its plan, so that its id is not used again meanwhile.
        known = self._plans.get(id(field_details_list))
        if known is None:
            known = field_details_list, self._make_plan(item_type, field_details_list)
            self._plans[id(field_details_list)] = known
        return known[1]

    def _make_plan(self, item_type: GraphQLOutputType, field_details_list: Any) -> list[_Column] | None:
        if not isinstance(item_type, GraphQLNonNull) or not isinstance(item_type.of_type, GraphQLObjectType):
            return None
        kind = item_type.of_type
        selected, deferred, _ = self.collect_subfields(kind, field_details_list)
        if kind.is_type_of or deferred:
            return None
        columns = []
        for name, details in selected.items():
            field = kind.fields.get(details[0].node.name.value)
            column = None if field is None else _column(name, field)
            if column is None:
                return None
            columns.append(column)
        return columns


def _column(name: str, field: Any) -> _Column | None:
    definition = field.extensions.get("strawberry-definition")
    if not isinstance(definition, StrawberryField) or not definition.is_basic_field or field.args:
        return None
    nullable = not isinstance(field.type, GraphQLNonNull)
    leaf = field.type if nullable else field.type.of_type
    if isinstance(leaf, GraphQLEnumType):
        # Values of an enum are few: each is converted once.
        return _Column(name, definition.python_name, nullable, set(), _Remembered(leaf.coerce_output_value))
    if isinstance(leaf, GraphQLScalarType):
        plain = _PLAIN.get(leaf.name, set())
        counts = leaf.name in _COUNTED
        return _Column(name, definition.python_name, nullable, plain, leaf.coerce_output_value, counts)
    return None


class _Remembered:
    def __init__(self, convert: Callable[[Any], Any]) -> None:
        self._convert = convert
        self._known: dict[Any, Any] = {}

    def __call__(self, value: Any) -> Any:
        if value not in self._known:
            self._known[value] = self._convert(value)
        return self._known[value]


def _complete(
    plan: list[_Column], items: list[Any] | tuple[Any, ...], answer: Answer | None
) -> list[Any] | None:
    """The rows, or None where something is not as it should be."""
    try:
        columns = [_values(column, map(attrgetter(column.attribute), items)) for column in plan]
    except Exception:
        return None
    if answer is not None:
        for column, values in zip(plan, columns, strict=True):
            if column.counts:
                answer.tells(values)
    names = [column.name for column in plan]
    return [dict(zip(names, values, strict=True)) for values in zip(*columns, strict=True)]


def _values(column: _Column, values: Iterable[Any]) -> list[Any]:
    found = list(values)
    kinds = set(map(type, found))
    if type(None) in kinds:
        if not column.nullable:
            raise TypeError(column.name)
        kinds.discard(type(None))
        return found if kinds <= column.plain else [None if v is None else column.convert(v) for v in found]
    return found if kinds and kinds <= column.plain else [column.convert(value) for value in found]
