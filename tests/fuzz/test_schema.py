"""Every field of the schema, with every argument as it may be and as it should not be."""

import json
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from hypothesis_graphql import mutations, nodes, queries

from stello_graph.graphql.schema import sdl
from tests.fuzz.documents import OPERATORS, ROOTS, Operation, Root, operations
from tests.fuzz.values import body_of
from tests.fuzz.world import JSON, World

STREAM = (*JSON, (b"accept", b"text/event-stream"))
OPERATOR = (b"x-operator", b"yes")
# What only a resolver that ran can tell; a group of tool messages is hardly ever whole.
REACHED = {"NOT_FOUND", "CONFLICT", "FORK_REFUSED"}
RARE = ("appendMessages",)
EXTENSIONS: st.SearchStrategy[Any] = st.sampled_from(
    [None, {}, {"persistedQuery": {"version": 1}}, [], 5, "x"]
)


def some(examples: int) -> settings:
    """So many examples, the same ones each time."""
    checks = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
    return settings(
        max_examples=examples,
        derandomize=True,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=checks,
    )


async def ask(world: World, root: Root, asked: Operation, extensions: Any = None) -> list[str]:
    """The codes that an operation is answered with, by a stream where it is a subscription."""
    await world.fill()
    payload = {"query": asked.document, "variables": world.named(asked.variables), "extensions": extensions}
    headers = STREAM if root.kind == "subscription" else JSON
    headers = (*headers, OPERATOR) if root.name in OPERATORS else headers
    # What follows the map ends with its client.
    enough = b"ping" if root.name == "topologyEvents" else None
    return world.check(await world.call(body_of(payload), headers, enough=enough))


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.name)
def test_what_may_be_given(world: World, root: Root) -> None:
    """Is answered, or refused with a code that tells why; every field is answered now and then."""
    codes: list[list[str]] = []

    @some(6)
    @given(operations(root, hostile=False))
    def asked(operation: Operation) -> None:
        codes.append(world.runner.run(ask(world, root, operation)))

    asked()
    assert root.name in RARE or [] in codes or any(REACHED & set(found) for found in codes), codes


@pytest.mark.parametrize("root", ROOTS, ids=lambda root: root.name)
def test_what_nobody_should_give(world: World, root: Root) -> None:
    """One argument is of another type, or of no size, or holds what cannot be stored."""

    @some(10)
    @given(operations(root, hostile=True), EXTENSIONS)
    def asked(operation: Operation, extensions: Any) -> None:
        world.runner.run(ask(world, root, operation, extensions))

    asked()


SCALARS = {
    "Long": st.sampled_from([0, 1, 2**31, 2**53, 2**53 + 1, 2**63]).map(nodes.Int),
    "DateTime": st.sampled_from(["2026-01-31T08:00:00Z", "now"]).map(nodes.String),
    "JSON": st.text(max_size=5).map(nodes.String),
    "StarMapColumns": st.just(nodes.String("x")),
}


@some(60)
@given(document=queries(sdl(), custom_scalars=SCALARS) | mutations(sdl(), custom_scalars=SCALARS))
def test_literals(world: World, document: str) -> None:
    """Documents of many fields at once, their arguments in the text."""

    async def ask_all() -> None:
        world.check(await world.call(json.dumps({"query": document}).encode()))

    world.runner.run(ask_all())
