"""What is read in part answers as what is read whole."""

from collections.abc import Iterator
from typing import Any

import pytest

from stello_graph.graphql import queries
from stello_graph.graphql.executor import RowExecutor
from stello_graph.graphql.types import session, topology
from tests.unit.graphql.conftest import Api

NODE = "id parentId label status role depth index childCount turnCount sourceSessionId sourceSeq createdAt lastActiveAt"
SAID = "id seq role content parts state toolCallId toolName isError sessionId model turnId createdAt"
DIGEST = "id label status memory rollup insight updatedAt eventSeq"

# TYPE stands where the name of the type is asked for, or nothing.
DOCUMENTS = [
    f"{{ getChildren {{ TYPE {NODE} }} }}",
    "{ getChildren { TYPE label siblings { TYPE index id } refs { TYPE label } referencedBy { TYPE depth } } }",
    "{ getChildren { TYPE l: label children(first: 1) { TYPE id ancestors { TYPE label } children { TYPE status } } } }",
    "{ getChildren(first: 9) { TYPE children(first: 9) { TYPE children(after: 0, first: 9) { TYPE index children(first: 9) { TYPE id parentId } } } } }",
    "{ getChildren { TYPE children { TYPE label label ...F } } } fragment F on TopologyNode { TYPE depth ... { index } }",
    "query($no: Boolean = false) { getChildren { TYPE label @include(if: $no) id children @skip(if: $no) { TYPE id } } }",
    "{ getChildren { TYPE a: children(first: 1) { TYPE id } b: children { TYPE label } } }",
    '{ topologyNode(id: "a") { label children { TYPE id children { TYPE label } } } }',
    f"{{ digests {{ nodes {{ TYPE {DIGEST} }} edges {{ cursor node {{ TYPE label }} }} pageInfo {{ endCursor }} eventSeq }} }}",
    "{ digests(first: 2) { nodes { TYPE label } pageInfo { endCursor hasNextPage } } }",
    '{ digests(rootId: "a") { edges { cursor } } }',
    f'{{ session(id: "a") {{ messages {{ nodes {{ TYPE {SAID} }} pageInfo {{ startCursor }} totalCount }} }} }}',
    '{ session(id: "a") { label messages(first: 2) { edges { cursor node { TYPE content } } pageInfo { endCursor } } } }',
    '{ session(id: "a") { messages(last: 2, roles: [USER]) { nodes { TYPE content } totalCount } } }',
    '{ session(id: "a") { messages { totalCount pageInfo { hasNextPage } } } }',
    '{ session(id: "a") { a: messages(last: 1) { nodes { TYPE seq } } b: messages { nodes { TYPE content } } } }',
]


async def forest(api: Api) -> None:
    """Two roots, one of which has talked, and three levels below that one."""
    for id, parent in (
        ("a", None),
        ("b", None),
        ("a1", "a"),
        ("a2", "a"),
        ("a1x", "a1"),
        ("a1y", "a1"),
        ("deep", "a1y"),
    ):
        await api.ask(
            "mutation($id: ID!, $p: ID) { createSession(input: {id: $id, parentId: $p, label: $id}) { id } }"
            .replace("label: $id", f'label: "label of {id}"'),
            id=id,
            p=parent,
        )  # fmt: skip
    for content in ("one", "two"):
        await api.ask(
            'mutation($c: String!) { send(input: {sessionId: "a", content: $c}) { id } }', c=content
        )
    await api.ask('mutation { addRef(fromId: "a2", toId: "b") { id } }')
    await api.ask('mutation { putMemory(sessionId: "a2", content: "known") { id } }')


@pytest.mark.parametrize("document", DOCUMENTS)
async def test_parts_answer_as_wholes(api: Api, document: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same, but for what is asked for beside. Clients ask for the names of all types."""
    await forest(api)
    parts = await api.ask(document.replace("TYPE ", ""))
    named = document.replace("TYPE ", "__typename ")
    told = await api.ask(named)
    costs = await api.cost(named)
    assert costs == await api.cost(document.replace("TYPE ", ""))

    for module in (queries, session):
        monkeypatch.setattr(module, "only_of_page", lambda *_: None)
    monkeypatch.setattr(topology, "only_below", lambda *_: None)
    monkeypatch.setattr(RowExecutor, "_plan", lambda *_: None)
    assert await api.ask(named) == told

    assert without_names(told) == parts
    assert any(isinstance(value, str | int) for value in leaves(parts))


def without_names(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: without_names(one) for name, one in value.items() if name != "__typename"}
    return [without_names(one) for one in value] if isinstance(value, list) else value


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from leaves(one)
    else:
        yield value


async def test_nothing_but_the_names_of_types(api: Api) -> None:
    """No field of what is listed is needed."""
    await forest(api)

    told = await api.ask(
        "{ getChildren { __typename children { __typename } } digests { nodes { __typename } } }"
    )

    node = {"__typename": "TopologyNode"}
    assert told["getChildren"] == [node | {"children": [node] * 2}, node | {"children": []}]
    assert told["digests"]["nodes"] == [{"__typename": "SessionDigest"}] * 7
