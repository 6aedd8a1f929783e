"""The schema is exported, and holds the contract but for what is listed as missing."""

from collections.abc import Iterator, Mapping
from pathlib import Path

from graphql import (
    GraphQLArgument,
    GraphQLEnumType,
    GraphQLInputField,
    GraphQLInputObjectType,
    GraphQLInterfaceType,
    GraphQLNamedType,
    GraphQLObjectType,
    GraphQLSchema,
    build_schema,
    is_specified_scalar_type,
    print_ast,
)

from stello_graph.graphql.schema import sdl

Arguments = Mapping[str, GraphQLArgument] | Mapping[str, GraphQLInputField]

HERE = Path(__file__).parent
ROOT = HERE.parent.parent


def test_schema_graphql_is_the_export() -> None:
    assert (ROOT / "schema.graphql").read_text(encoding="utf-8") == sdl(), (
        "run: stello-graph schema > schema.graphql"
    )


def test_what_the_schema_lacks_of_the_contract_is_what_the_list_says() -> None:
    contract = build_schema((HERE / "schema.graphql").read_text(encoding="utf-8"))
    missing = sorted(differences(contract, build_schema(sdl())))
    listed = (HERE / "missing.txt").read_text(encoding="utf-8").splitlines()
    assert missing == listed


def differences(contract: GraphQLSchema, ours: GraphQLSchema) -> Iterator[str]:
    for name, wanted in contract.type_map.items():
        if name.startswith("__") or is_specified_scalar_type(wanted):
            continue
        found = ours.type_map.get(name)
        if found is None:
            yield name
        elif type(found) is not type(wanted):
            yield f"{name} is a {type(found).__name__}"
        else:
            yield from _members(name, wanted, found)


def _members(name: str, wanted: GraphQLNamedType, found: GraphQLNamedType) -> Iterator[str]:
    if isinstance(wanted, GraphQLEnumType) and isinstance(found, GraphQLEnumType):
        yield from (f"{name}.{value}" for value in wanted.values if value not in found.values)
    if isinstance(wanted, GraphQLInputObjectType) and isinstance(found, GraphQLInputObjectType):
        yield from _arguments(name, wanted.fields, found.fields)
    if isinstance(wanted, GraphQLObjectType | GraphQLInterfaceType):
        assert isinstance(found, GraphQLObjectType | GraphQLInterfaceType)
        yield from _fields(name, wanted, found)
        interfaces = {one.name for one in found.interfaces}
        yield from (
            f"{name} implements {one.name}" for one in wanted.interfaces if one.name not in interfaces
        )


def _fields(
    name: str,
    wanted: GraphQLObjectType | GraphQLInterfaceType,
    found: GraphQLObjectType | GraphQLInterfaceType,
) -> Iterator[str]:
    for field, want in wanted.fields.items():
        have = found.fields.get(field)
        if have is None:
            yield f"{name}.{field}"
        elif str(have.type) != str(want.type):
            yield f"{name}.{field} is {have.type}"
        else:
            yield from _arguments(f"{name}.{field}", want.args, have.args)
            for added in have.args.keys() - want.args.keys():
                assert not str(have.args[added].type).endswith("!"), f"{name}.{field}({added}) is required"


def _arguments(name: str, wanted: Arguments, found: Arguments) -> Iterator[str]:
    for argument, want in wanted.items():
        have = found.get(argument)
        if have is None:
            yield f"{name}.{argument}"
        elif _signature(have) != _signature(want):
            yield f"{name}.{argument} is {_signature(have)}"


def _signature(argument: GraphQLArgument | GraphQLInputField) -> str:
    default = None if argument.ast_node is None else argument.ast_node.default_value
    return f"{argument.type}" if default is None else f"{argument.type} = {print_ast(default)}"
