"""Documents from the schema: each root field with all that can be selected below it."""

from typing import Any, Final, NamedTuple

from graphql import (
    GraphQLField,
    GraphQLInterfaceType,
    GraphQLObjectType,
    get_named_type,
    is_leaf_type,
)
from hypothesis import strategies as st

from stello_graph.graphql.schema import schema
from tests.fuzz.values import arguments

__all__ = ["OPERATORS", "ROOTS", "Operation", "Root", "operations"]

OPERATORS: Final = ("spaces", "createSpace", "deleteSpace")

_IDS: Final = st.sampled_from(["s0", "s1", "s2", "s3", "s4", "a turn", "other", "nobody"])
_DIRECTIVES: Final = (
    "",
    "",
    "",
    " @include(if: true)",
    " @include(if: true) @skip(if: false)",
    " @skip(if: true)",
    " @include(if: $no)",
    ' @include(if: "x")',
    " @include",
    " @skip(if: null)" * 30,
    " @defer",
    " @stream(initialCount: 0)",
    " @nothing",
    " @deprecated",
    ' @specifiedBy(url: "x")',
    " @oneOf",
)
_PAGES: Final = (
    *("first: 2",) * 20,
    "first: 0",
    "first: -1",
    "first: null",
    "first: 1001",
    "first: 99999999999999999999",
    "first: 1e400",
    "first: 2.0",
    'first: "2"',
    "first: [2]",
    "first: {a: 2}",
    "first: $no",
    "first: 2, first: 2",
    'first: 2, after: "\\u0000"',
    'first: 2, after: "\\ud800"',
    "first: 2, after: 2147483647",
    "first: 2, nothing: 1",
)


class Root(NamedTuple):
    """A field of a root type."""

    kind: str
    name: str
    field: GraphQLField


class Operation(NamedTuple):
    """A document with its variables."""

    document: str
    variables: dict[str, Any]


def _roots() -> list[Root]:
    core = schema._schema
    kinds = (
        ("query", core.query_type),
        ("mutation", core.mutation_type),
        ("subscription", core.subscription_type),
    )
    return [Root(kind, name, field) for kind, type_ in kinds if type_ for name, field in type_.fields.items()]


ROOTS: Final = _roots()


@st.composite
def operations(draw: st.DrawFn, root: Root, hostile: bool) -> Operation:
    """One root field, its arguments as variables."""
    given = draw(arguments(root.field.args, _IDS, hostile))
    directive = draw(st.sampled_from(_DIRECTIVES)) if hostile else ""
    page = draw(st.sampled_from(_PAGES)) if hostile else _PAGES[0]
    selection = _selection(root.field, draw(st.integers(0, 2)), page)
    declared = ", ".join(f"${name}: {root.field.args[name].type}" for name in given)
    passed = ", ".join(f"{name}: ${name}" for name in given)
    head = f"{root.kind} F" + (f"({declared})" if declared else "")
    call = root.name + (f"({passed})" if passed else "")
    return Operation(f"{head} {{ {call}{directive} {selection} }}", given)


def _selection(field: GraphQLField, depth: int, page: str) -> str:
    kind = get_named_type(field.type)
    if is_leaf_type(kind):
        return ""
    parts = ["__typename"]
    if isinstance(kind, GraphQLInterfaceType):
        parts += [
            f"... on {one.name} {{ {_fields(one, 1, page)} }}"
            for one in schema._schema.get_possible_types(kind)
        ]
    elif isinstance(kind, GraphQLObjectType):
        parts.append(_fields(kind, depth, page))
    return "{ " + " ".join(parts) + " }"


def _fields(kind: GraphQLObjectType, depth: int, page: str) -> str:
    parts = []
    for name, field in kind.fields.items():
        if is_leaf_type(get_named_type(field.type)):
            parts.append(name)
        elif depth:
            sized = f"({page})" if "first" in field.args else ""
            parts.append(f"{name}{sized} {_selection(field, depth - 1, page)}")
    return " ".join(parts) or "__typename"
