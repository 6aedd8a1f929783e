"""What asks for too much is LIMIT_EXCEEDED before any statement runs."""

from contextlib import ExitStack
from typing import Any

import pytest
from graphql import parse

from stello_graph.graphql.cost import cost_of, numbers_in, operation_of, shape_of
from stello_graph.graphql.documents import _KEPT
from stello_graph.graphql.schema import schema
from tests.unit.graphql.conftest import Api


def nested(levels: int) -> str:
    """A document with so many selections inside one another."""
    return "{ topologyNode(id: " + '"a") { ' + "parent { " * (levels - 1) + "id" + " }" * (levels + 1)


def cost(document: str, **variables: Any) -> int:
    parsed = parse(document)
    operation = operation_of(parsed, None)
    assert operation is not None
    return cost_of(schema._schema, parsed, operation, numbers_in(operation, variables)).nodes


async def refused(api: Api, document: str, **variables: Any) -> str:
    """The message of a refusal that cost no statement."""
    api.engine.ran.clear()
    error = await api.refused(document, **variables)
    assert api.engine.ran == []
    assert error["code"] == "LIMIT_EXCEEDED", error
    assert error["retryable"] is False
    return str(error["message"])


@pytest.mark.covers("TC25")
async def test_depth(api: Api) -> None:
    """15 levels are answered, 16 are not, through fragments as well; the refusal names both numbers."""
    await api.ask(nested(15))
    assert await refused(api, nested(16)) == "the operation is 16 levels deep; at most 15 are answered"
    half = "parent { " * 8 + "id" + " }" * 8
    fragment = half.replace("id", "...Half")
    document = f'{{ topologyNode(id: "a") {{ {fragment} }} }} fragment Half on TopologyNode {{ {half} }}'
    assert "17 levels" in await refused(api, document)
    inline = nested(15).replace(" id ", " ... on TopologyNode { ... { id } } ")
    await api.ask(inline)


async def test_introspection_counts_nothing(api: Api) -> None:
    """Neither in the depth nor in the cost."""
    deep = "ofType { " * 20 + "name" + " }" * 20
    await api.ask(f"{{ __schema {{ types {{ fields {{ name type {{ {deep} }} }} }} }} }}")
    assert cost("{ __schema { types { name fields { name } } } __typename }") == 0


@pytest.mark.covers("TC25")
async def test_aliases(api: Api) -> None:
    """30 are answered, 31 are not; those of a fragment count as often as it is used."""
    await api.ask("{ " + " ".join(f"a{n}: __typename" for n in range(30)) + " }")
    many = "{ " + " ".join(f"a{n}: me {{ scope }}" for n in range(31)) + " }"
    assert await refused(api, many) == "the operation has 31 aliases; at most 30 are answered"
    aliases = " ".join(f"a{n}: scope" for n in range(9))
    document = f"{{ a: me {{ ...F }} b: me {{ ...F }} c: me {{ ...F }} d: me {{ ...F }} }} fragment F on Viewer {{ {aliases} }}"
    assert "40 aliases" in await refused(api, document)


@pytest.mark.covers("TC25")
async def test_tokens(api: Api) -> None:
    """2,000 are read, comments among them; no more are."""
    await api.ask("#\n" * 1_997 + "{ __typename }")
    assert "2000 tokens" in await refused(api, "#\n" * 1_998 + "{ __typename }")
    assert "2000 tokens" in await refused(api, "{ " + "__typename " * 1_999 + "}")
    assert "too complex" in await refused(api, "{ " + "getChildren { id } " * 490 + "}")


@pytest.mark.parametrize(
    ("document", "variables", "nodes"),
    [
        ("{ me { scope } }", {}, 0),
        ("{ getChildren { id } }", {}, 100),
        ("{ getChildren(first: null) { id } }", {}, 100),
        ("{ getChildren(first: 7) { children(first: 3) { id } } }", {}, 7 + 7 * 3),
        ("{ getChildren(first: 7) { session { node { children { id } } } } }", {}, 7 + 7 * 100),
        ("query ($n: Int) { getChildren(first: $n) { id } }", {}, 100),
        ("query ($n: Int) { getChildren(first: $n) { id } }", {"n": 5}, 5),
        ("query ($n: Int) { getChildren(first: $n) { id } }", {"n": None}, 100),
        ("query ($n: Int = 9) { getChildren(first: $n) { id } }", {}, 9),
        ("query ($n: Int = 9) { getChildren(first: $n) { id } }", {"n": None}, 100),
        ("query ($n: Int = 9) { getChildren(first: $n) { id } }", {"n": 3, "m": 7}, 3),
        ("query ($ids: [ID!]! = [1, 2]) { topologyNodes(ids: $ids) { id } }", {}, 2),
        ("{ sessions(first: 8) { totalCount nodes { tags skills } } }", {}, 8),
        ("{ sessions(first: 8) { nodes { id } edges { node { id } } } }", {}, 16),
        ("{ sessions(first: 2) { nodes { messages { nodes { seq } } } } }", {}, 2 + 2 * 50),
        (
            "{ sessions(first: 2) { nodes { messages(last: 4) { nodes { seq toolCalls { id } } } } } }",
            {},
            410,
        ),
        ("{ turnsByStatus(status: RUNNING) { id messages { seq } } }", {}, 50 + 50 * 50),
        ("{ topologyNodes(ids: [1, 2, 3]) { id children(first: 2) { id } } }", {}, 3 + 3 * 2),
        ("query ($ids: [ID!]!) { topologyNodes(ids: $ids) { id } }", {"ids": ["a"] * 900}, 900),
        ("{ a: getChildren(first: 7) { id } b: getChildren(first: 2) { id } }", {}, 9),
        ("{ getChildren(first: 7) { id } getChildren(first: 7) { label } }", {}, 7),
        (
            "{ ...F ...F } fragment F on Query { ...G } fragment G on Query { getChildren(first: 7) { id } }",
            {},
            7,
        ),
        ("{ getChildren(first: 2) { ...F } } fragment F on TopologyNode { refs(first: 3) { id } }", {}, 8),
        ("{ getChildren(first: 0) { id } }", {}, 1),
        ('mutation { send(input: {sessionId: "a", content: "b"}) { messages { seq } } }', {}, 50),
        (
            'subscription { turnEvents(turnId: "t") { ... on TurnEnded { turn { messages { seq } } } } }',
            {},
            50,
        ),
        ("{ starMap { columns } }", {}, 0),
    ],
)
def test_cost(document: str, variables: dict[str, Any], nodes: int) -> None:
    """Each list of objects counts as its page, or its ids, or 50, as often as the lists around it say."""
    assert cost(document, **variables) == nodes


@pytest.mark.covers("TC25")
async def test_cost_is_bounded(api: Api) -> None:
    """50,000 nodes may be asked for, no more; the refusal names the number and a smaller first."""
    document = "query ($n: Int) { getChildren(first: 1000) { children(first: $n) { id } } }"
    await api.ask(document, n=49)
    message = await refused(api, document, n=50)
    assert "51000 nodes" in message
    assert "smaller first" in message
    lists = "children(first: 1000) { children(first: 50) { id } }"
    await refused(api, f'mutation {{ putMemory(sessionId: "a", content: "b") {{ node {{ {lists} }} }} }}')


async def test_a_default_that_a_null_takes_away(api: Api) -> None:
    """A variable that is null has not its own default but the argument's."""
    lists = "getChildren(first: $n) { children(first: $n) { children(first: $n) { id } } }"
    await api.ask(f"query ($n: Int = 1) {{ {lists} }}")
    assert "1010100 nodes" in await refused(api, f"query ($n: Int = 1) {{ {lists} }}", n=None)


def test_what_is_kept_of_variables() -> None:
    """Only what the operation declares: a caller's other names would fill the memory."""
    operation = operation_of(parse("query ($n: Int, $m: Int, $s: String) { me { id } }"), None)
    assert operation is not None
    given = {f"x{n}": n for n in range(1_000)} | {"n": 7, "m": None, "s": "text"}
    assert numbers_in(operation, given) == {"n": 7}


async def test_pages(api: Api) -> None:
    """Over 1,000 is refused at any depth, by first as by last, before the session above is read."""
    await refused(api, '{ session(id: "a") { messages(last: 1001) { totalCount } } }')
    await refused(api, "query ($n: Int) { sessions(first: $n) { totalCount } }", n=1_001)
    await refused(api, "{ getChildren(first: 2147483647) { id } }")


async def test_fragments_that_double_are_counted_in_no_time(api: Api) -> None:
    """Fragments that use the next one twice would be walked for ever, one by one."""
    chain = " ".join(f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }}" for n in range(120))
    await api.ask(f"{{ ...F0 }} {chain} fragment F120 on Query {{ __typename }}")
    links = "children(first: 1) { ...F%d } refs(first: 1) { ...F%d } siblings(first: 1) { ...F%d } session { node { ...F%d } }"
    bodies = " ".join(f"fragment F{n} on TopologyNode {{ {links % ((n + 1,) * 4)} }}" for n in range(7))
    document = (
        f"{{ getChildren(first: 1) {{ ...F0 }} }} {bodies} fragment F7 on TopologyNode {{ parent {{ id }} }}"
    )
    assert cost(document) == 1 + sum(3 * 4**n for n in range(7))


async def test_turns(api: Api) -> None:
    """A Space that is full of turns takes no more."""
    document = 'mutation { startTurn(input: {sessionId: "a", content: "b"}) { id } }'
    with ExitStack() as places:
        for _ in range(32):
            places.enter_context(api.graph.turns._slots.one("default", busy=False))
        api.engine.ran.clear()
        error = await api.refused(document)
        assert (error["code"], error["retryable"], api.engine.ran) == ("LIMIT_EXCEEDED", True, [])
    assert (await api.refused(document))["code"] == "NOT_FOUND"


async def test_fragments_of_all_kinds_of_nonsense(api: Api) -> None:
    """Cycles and unknown fragments count nothing, and are the input's fault."""
    for document in (
        "{ ...A } fragment A on Query { ...A }",
        "{ ...A }",
        "{ me { ...A } } fragment A on No { a: b }",
    ):
        assert (await api.refused(document))["code"] == "INVALID_INPUT"
        parsed = parse(document)
        operation = operation_of(parsed, None)
        assert operation is not None
        assert shape_of(parsed, operation).depth <= 1


async def test_nesting_beyond_what_can_be_parsed(api: Api) -> None:
    """LIMIT_EXCEEDED, whatever is nested."""
    for document in (
        "{" + " a {" * 900 + " b" + " }" * 901,
        "{ me " + "{ ... " * 600 + "{ scope" + " }" * 602,
        "{ x(a: " + "[" * 900 + "]" * 900 + ") }",
        "{ ...F0 } " + " ".join(f"fragment F{n} on Query {{ ...F{n + 1} }}" for n in range(240)),
    ):
        error = await api.refused(document)
        assert error["code"] in ("LIMIT_EXCEEDED", "INVALID_INPUT"), error
        assert "recursion" not in error["message"]


async def test_what_is_kept_of_documents_is_bounded(api: Api) -> None:
    """By their number too where they are short; nothing is kept of variables that a document has not."""
    for number in range(20_000):
        _KEPT.prepared(schema._schema, f"{{a{number}}}", 2_000)
    assert len(_KEPT._known) < 10_000
    document = "query Kept($n: Int) { getChildren(first: $n) { id } }"
    for number in range(3):
        await api.ask(document, n=1, **{f"x{place}": number for place in range(1_000)})
    kept = _KEPT.prepared(schema._schema, document, api.graph.settings.max_query_tokens)
    assert list(kept._costs) == [("Kept", (("n", 1),))]


@pytest.mark.parametrize(
    "mutation",
    [
        "createSession(input: {label: $label}) { id }",
        "createSession(input: {tags: [$label]}) { id }",
        'fork(input: {sourceSessionId: "s", label: $label}) { id }',
        'updateSession(id: "s", input: {label: $label}) { id }',
        "putForkProfile(input: {name: $label, context: NONE}) { name }",
        'putSkill(name: $label, description: "d", content: "c") { name }',
        'putSharedMemory(slug: $label, summary: "s", body: "b") { slug }',
        "createApiKey(name: $label, scope: READ) { __typename }",
    ],
    ids=lambda mutation: mutation[:30],
)
async def test_labels_and_names(api: Api, mutation: str) -> None:
    """Beyond their length they are INVALID_INPUT before any statement."""
    api.engine.ran.clear()
    error = await api.refused(f"mutation ($label: String!) {{ {mutation} }}", label="x" * 201)
    assert (error["code"], api.engine.ran) == ("INVALID_INPUT", [])
    assert "has at most" in error["message"]
