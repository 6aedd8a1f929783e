"""What is read in part answers as what is read whole."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.unit.graphql.conftest import Api

NODE = "id parentId label status role depth index childCount turnCount sourceSessionId sourceSeq createdAt lastActiveAt"
SAID = "id seq role content parts state toolCallId toolName isError sessionId model turnId createdAt"
DIGEST = "id label status memory rollup insight updatedAt eventSeq"

# WHOLE stands where a field asks for what is no column, so that all that is listed there is read whole.
DOCUMENTS = [
    f"{{ getChildren {{ WHOLE {NODE} }} }}",
    "{ getChildren { WHOLE label siblings { WHOLE index id } refs { WHOLE label } referencedBy { WHOLE depth } } }",
    "{ getChildren { WHOLE l: label children(first: 1) { WHOLE id ancestors { WHOLE label } children { WHOLE status } } } }",
    "{ getChildren(first: 9) { WHOLE children(first: 9) { WHOLE children(after: 0, first: 9) { WHOLE index children(first: 9) { WHOLE id parentId } } } } }",
    "{ getChildren { WHOLE children { WHOLE label label ...F } } } fragment F on TopologyNode { WHOLE depth ... { index } }",
    "query($no: Boolean = false) { getChildren { WHOLE label @include(if: $no) id children @skip(if: $no) { WHOLE id } } }",
    "{ getChildren { WHOLE a: children(first: 1) { WHOLE id } b: children { WHOLE label } } }",
    '{ topologyNode(id: "a") { label children { WHOLE id children { WHOLE label } } } }',
    f"{{ digests {{ nodes {{ WHOLE {DIGEST} }} edges {{ cursor node {{ WHOLE label }} }} pageInfo {{ endCursor }} eventSeq }} }}",
    "{ digests(first: 2) { nodes { WHOLE label } pageInfo { endCursor hasNextPage } } }",
    '{ digests(rootId: "a") { edges { cursor } } }',
    f'{{ session(id: "a") {{ messages {{ nodes {{ WHOLE {SAID} }} pageInfo {{ startCursor }} totalCount }} }} }}',
    '{ session(id: "a") { label messages(first: 2) { edges { cursor node { WHOLE content } } pageInfo { endCursor } } } }',
    '{ session(id: "a") { messages(last: 2, roles: [USER]) { nodes { WHOLE content } totalCount } } }',
    '{ session(id: "a") { messages { totalCount pageInfo { hasNextPage } } } }',
    '{ session(id: "a") { a: messages(last: 1) { nodes { WHOLE seq } } b: messages { nodes { WHOLE content } } } }',
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
async def test_parts_answer_as_wholes(api: Api, document: str) -> None:
    """The same, but for what has to be told of a whole."""
    await forest(api)

    parts = await api.ask(document.replace("WHOLE ", ""))
    wholes = await api.ask(document.replace("WHOLE ", "__typename "))

    assert parts == without_names(wholes)
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
