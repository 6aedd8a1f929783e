"""What is read in one query with its parent is what would be read after it, in whatever words it is asked for."""

import gc
from typing import Any

import pytest

from stello_graph.graphql import ahead, queries
from stello_graph.graphql.schema import schema
from tests.unit.graphql.conftest import Api

PAGE = 'messages(last: 2, before: "5") { nodes { seq content } pageInfo { hasPreviousPage hasNextPage } }'
ASKED = "messages(last: $last, before: $before) { nodes { seq } totalCount }"
WITH_VARIABLES = f'query($last: Int = 3, $before: String) {{ session(id: "a") {{ {ASKED} }} }}'

TOGETHER = ["sessions/with_newest"]
APART = ["sessions/get", "messages/newest"]
FROM_THE_START = ["sessions/get", "messages/oldest"]

SESSIONS = [
    (f'{{ session(id: "a") {{ {PAGE} }} }}', TOGETHER),
    (f'{{ s: session(id: "a") {{ label m: {PAGE} turnCount }} }}', TOGETHER),
    (f'{{ session(id: "a") {{ ...s }} }} fragment s on Session {{ ... on Session {{ {PAGE} }} }}', TOGETHER),
    (f'{{ session(id: "a") {{ label }} session(id: "a") {{ {PAGE} }} }}', TOGETHER),
    (f'{{ a: session(id: "a") {{ {PAGE} }} b: session(id: "b") {{ {PAGE} }} }}', TOGETHER),
    ('{ session(id: "a") { messages { nodes { seq } totalCount } } }', TOGETHER),
    (WITH_VARIABLES, TOGETHER),
    (f'{{ session(id: "a") {{ {PAGE} old: messages(first: 1) {{ nodes {{ seq }} }} }} }}',
     [*APART, "messages/oldest"]),
    (f'{{ session(id: "a") {{ ... @include(if: true) {{ {PAGE} }} }} }}', APART),
    ('{ session(id: "a") { messages @skip(if: false) { nodes { seq } } } }', APART),
    ('{ session(id: "a") { messages(roles: [USER]) { nodes { seq } } } }', APART),
    ('{ session(id: "a") { messages(first: 2) { nodes { seq } } } }', FROM_THE_START),
    ('{ session(id: "a") { label } }', ["sessions/get"]),
    (f'{{ session(id: "nope") {{ {PAGE} }} }}', TOGETHER),
]  # fmt: skip

NODES = [
    ('{ topologyNode(id: "c") { ancestors { id label depth } } }', ["topology/with_ancestors"]),
    ('{ topologyNode(id: "a") { id ancestors { id } } }', ["topology/with_ancestors"]),
    ('{ topologyNode(id: "c") { up: ancestors { id children { id } } } }',
     ["topology/with_ancestors", "topology/children"]),
    ('{ c: topologyNode(id: "c") { ancestors { id } } b: topologyNode(id: "b") { ancestors { id } } }',
     ["topology/with_ancestors"]),
    ('{ topologyNode(id: "c") { ancestors @include(if: true) { id } } }',
     ["topology/nodes", "topology/ancestors"]),
    ('{ topologyNode(id: "nope") { ancestors { id } } }', ["topology/with_ancestors"]),
    ('{ topologyNode(id: "c") { id } }', ["topology/nodes"]),
]  # fmt: skip


async def grow(api: Api) -> None:
    """A line of three sessions, the first of which has talked."""
    for id, parent in ("a", None), ("b", "a"), ("c", "b"):
        await api.ask(
            "mutation($id: ID!, $parent: ID) { createSession(input: {id: $id, parentId: $parent}) { id } }",
            id=id,
            parent=parent,
        )
    for content in ("one", "two", "three"):
        said = 'mutation($said: String!) { send(input: {sessionId: "a", content: $said}) { id } }'
        await api.ask(said, said=content)


@pytest.mark.parametrize(("document", "cost"), SESSIONS + NODES)
async def test_what_is_read_with_its_parent(
    api: Api, monkeypatch: pytest.MonkeyPatch, document: str, cost: list[str]
) -> None:
    await grow(api)
    given = {"last": 1, "before": "4"} if "$" in document else {}
    assert await api.cost(document, **given) == cost
    together = await api.ask(document, **given)
    monkeypatch.setattr(queries, "newest_below", lambda _: None)
    monkeypatch.setattr(queries, "below", lambda *_: None)
    assert await api.ask(document, **given) == together


DIFFER: list[tuple[str, list[dict[str, Any]]]] = [
    (WITH_VARIABLES, [{"last": 1}, {"last": 2, "before": "4"}, {"last": 0}, {"last": 1}]),
    ('query($yes: Boolean!) { session(id: "a") { label } session(id: "a") @include(if: $yes) {'
     " messages(last: 1) { nodes { seq content } } } }", [{"yes": yes} for yes in (False, True, False)]),
    ('query($yes: Boolean!) { getChildren @skip(if: $yes) { id } getChildren { label children { id } } }',
     [{"yes": yes} for yes in (True, False, True)]),
]  # fmt: skip


@pytest.mark.parametrize(("document", "asked"), DIFFER)
async def test_what_is_known_of_a_document_holds_for_other_variables(
    api: Api, document: str, asked: list[dict[str, Any]]
) -> None:
    """It says the same as one that is asked for the first time, whatever it was asked with before."""
    await grow(api)
    for number, given in enumerate(asked):
        anew, again = [
            await schema.execute(text, variable_values=given, context_value=api.context())
            for text in (f"{document} # {number}", document)
        ]
        assert again.data == anew.data
        assert repr(again.errors) == repr(anew.errors)
        if not again.errors:
            assert await api.cost(document, **given) == await api.cost(f"{document} ## {number}", **given)


async def test_what_is_known_of_a_document_goes_with_it(api: Api) -> None:
    """One that is too long to be kept leaves nothing."""
    await grow(api)
    gc.collect()
    before = len(ahead._MEMORY._known)
    await api.ask("{ getChildren { id children { id } } }" + " " * 40_000)
    gc.collect()
    assert len(ahead._MEMORY._known) == before
    await api.ask("{ getChildren { id children { id label } } }")
    assert len(ahead._MEMORY._known) > before


@pytest.mark.parametrize("arguments", ["first: 1, last: 1", "last: 0", 'before: "x"', "last: 5000"])
async def test_arguments_that_are_none_are_told_by_their_field(api: Api, arguments: str) -> None:
    await grow(api)
    refused = await api.refused(f'{{ session(id: "a") {{ messages({arguments}) {{ nodes {{ seq }} }} }} }}')
    assert refused["code"] in ("INVALID_INPUT", "LIMIT_EXCEEDED")
