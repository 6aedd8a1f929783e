"""What each scope may do: every field of the schema with every scope."""

import asyncio
from collections.abc import Iterator
from typing import Any, Final

import pytest
from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLNonNull,
    Undefined,
    build_schema,
    get_named_type,
    is_leaf_type,
)

from stello_graph.graphql.context import Context
from stello_graph.graphql.schema import schema, sdl
from stello_graph.ids import DEFAULT_SPACE
from stello_graph.model.values import KeyScope, Viewer
from tests.unit.graphql.conftest import Api

FIELDS: Final = {
    kind: getattr(build_schema(sdl()), f"{kind}_type").fields
    for kind in ("query", "mutation", "subscription")
}
ALL: Final = [(kind, name) for kind, fields in FIELDS.items() for name in fields]
FOR_ADMIN: Final = {
    "apiKeys",
    "configureSpace",
    "createApiKey",
    "deleteForkProfile",
    "deleteSkill",
    "loadDemo",
    "putForkProfile",
    "putSkill",
    "revokeApiKey",
}
FOR_OPERATOR: Final = {"createSpace", "deleteSpace", "spaces"}
LITERALS: Final = {
    "ID": '"nobody"',
    "String": '"text"',
    "Int": "1",
    "Long": "1",
    "Boolean": "true",
    "JSON": "{}",
}
# A number that no event has: a subscription says so, and does not wait for one.
BEYOND: Final = "9007199254740992"
ALLOWED: Final = {
    "me": set(KeyScope),
    **{name: {KeyScope.ADMIN} for name in FOR_ADMIN},
    **{name: {KeyScope.OPERATOR} for name in FOR_OPERATOR},
}
OF_KIND: Final = {
    "query": {KeyScope.READ, KeyScope.WRITE, KeyScope.ADMIN},
    "mutation": {KeyScope.WRITE, KeyScope.ADMIN},
    "subscription": {KeyScope.READ, KeyScope.WRITE, KeyScope.ADMIN},
}


def literal(type: Any) -> str:
    """The plainest value of a type."""
    if isinstance(type, GraphQLNonNull):
        return literal(type.of_type)
    if isinstance(type, GraphQLList):
        return f"[{literal(type.of_type)}]"
    if isinstance(type, GraphQLEnumType):
        return str(next(iter(type.values)))
    if isinstance(type, GraphQLInputObjectType):
        return "{" + ", ".join(required(type.fields)) + "}"
    return LITERALS[type.name]


def required(arguments: dict[str, Any]) -> Iterator[str]:
    for name, argument in arguments.items():
        if isinstance(argument.type, GraphQLNonNull) and argument.default_value is Undefined:
            yield f"{name}: {literal(argument.type)}"


def document(kind: str, name: str) -> str:
    """The smallest operation with one field."""
    field: GraphQLField = FIELDS[kind][name]
    arguments: dict[str, GraphQLArgument] = field.args
    given = list(required(arguments))
    if kind == "subscription" and "after" in arguments:
        given.append(f"after: {BEYOND}")
    below = "" if is_leaf_type(get_named_type(field.type)) else " { __typename }"
    arguments_given = f"({', '.join(given)})" if given else ""
    return f"{kind} {{ {name}{arguments_given}{below} }}"


async def codes(kind: str, name: str, context: Context) -> list[str]:
    """The codes of the errors that came."""
    if kind != "subscription":
        result: Any = await schema.execute(document(kind, name), context_value=context)
        return [error.extensions["code"] for error in result.errors or ()]
    stream: Any = await schema.subscribe(document(kind, name), context_value=context)
    async with asyncio.timeout(60):
        result = await anext(stream)
    await stream.aclose()
    return [error.extensions["code"] for error in result.errors or ()]


def test_the_marks_of_the_contract() -> None:
    """What is for an ADMIN or an OPERATOR says so in the schema."""
    marked: dict[str, set[str]] = {"ADMIN": set(), "OPERATOR": set()}
    for fields in FIELDS.values():
        for name, field in fields.items():
            first = (field.description or "").partition(".")[0]
            if first in marked:
                marked[first].add(name)

    assert marked == {"ADMIN": FOR_ADMIN, "OPERATOR": FOR_OPERATOR}


@pytest.mark.covers("SRV-5")
@pytest.mark.parametrize(("kind", "name"), ALL, ids=[name for _, name in ALL])
async def test_each_field_with_each_scope(api: Api, kind: str, name: str) -> None:
    """Too small a scope is FORBIDDEN before any query runs; every other one is let through."""
    for scope in KeyScope:
        space_id = None if scope is KeyScope.OPERATOR else DEFAULT_SPACE
        context = Context(api.graph, Viewer(space_id=space_id, scope=scope))
        api.engine.ran.clear()
        found = await codes(kind, name, context)
        if scope in ALLOWED.get(name, OF_KIND[kind]):
            assert "FORBIDDEN" not in found, scope
        else:
            assert (found, api.engine.ran) == (["FORBIDDEN"], []), scope


async def test_no_key_for_operators_by_an_admin(api: Api) -> None:
    """An ADMIN cannot make a key that reaches beyond its Space."""
    refused = await api.refused('mutation { createApiKey(name: "ops", scope: OPERATOR) { secret } }')

    assert refused["code"] == "FORBIDDEN"
    assert await api.ask("{ apiKeys { id } }") == {"apiKeys": []}
