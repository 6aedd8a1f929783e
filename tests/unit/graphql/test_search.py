"""Query.search, as a front-end asks it."""

from typing import Any

import pytest

from stello_graph.model.values import KeyScope
from stello_graph.store.engine import Row
from stello_graph.store.queries import Query
from stello_graph.store.reading import Reading
from tests.unit.graphql.conftest import Api

SEARCH = """query($query: String!, $in: [SearchScope!], $rootId: ID, $first: Int) {
  search(query: $query, in: $in, rootId: $rootId, first: $first) {
    scope score snippet session { id label } message { id seq role content sessionId } } }"""


async def planted(api: Api) -> None:
    """A tree about whales, and another one."""
    await api.ask('mutation { createSession(input: {id: "a", label: "Whales"}) { id } }')
    await api.ask('mutation { createSession(input: {id: "b", label: "Birds"}) { id } }')
    await api.ask('mutation { putMemory(sessionId: "a", content: "鯨の話: whales sing") { id } }')
    await api.ask(
        'mutation($m: [MessageInput!]!) { appendMessages(sessionId: "a", messages: $m) { id } }',
        m=[
            {"role": "USER", "content": "Do whales sleep?"},
            {"role": "ASSISTANT", "content": "<think>whales!</think>Yes, with half their brain."},
        ],
    )
    await api.ask('mutation { fork(input: {sourceSessionId: "a", label: "Sleep", context: INHERIT}) { id } }')


async def found(api: Api, query: str, **arguments: Any) -> list[dict[str, Any]]:
    data = await api.ask(SEARCH, query=query, **arguments)
    hits: list[dict[str, Any]] = data["search"]
    return hits


async def test_hits(api: Api) -> None:
    """Labels, digests and messages, best first, each with its session, its snippet, and the message."""
    await planted(api)

    label, memory, message = await found(api, "WHALES")

    session = {"id": "a", "label": "Whales"}
    assert label == {
        "scope": "LABEL",
        "score": 4.0,
        "snippet": "Whales",
        "session": session,
        "message": None,
    }
    assert (memory["scope"], memory["snippet"], memory["session"], memory["message"]) == (
        "MEMORY",
        "鯨の話: whales sing",
        session,
        None,
    )
    assert (message["scope"], message["snippet"], message["session"]) == (
        "MESSAGE",
        "Do whales sleep?",
        session,
    )
    told = message["message"]
    assert (told["seq"], told["role"], told["content"], told["sessionId"]) == (
        1,
        "USER",
        "Do whales sleep?",
        "a",
    )
    assert label["score"] > memory["score"] > message["score"]


async def test_arguments(api: Api) -> None:
    """in, rootId and first narrow it; given as null they have their defaults."""
    await planted(api)

    assert [hit["scope"] for hit in await found(api, "whales", **{"in": ["MESSAGE", "MESSAGE"]})] == [
        "MESSAGE"
    ]
    assert [hit["scope"] for hit in await found(api, "whales", **{"in": ["MEMORY", "LABEL"]})] == [
        "LABEL",
        "MEMORY",
    ]
    assert len(await found(api, "whales", **{"in": None, "rootId": None, "first": None})) == 3
    assert len(await found(api, "whales", first=2)) == 2
    assert await found(api, "whales", rootId="b") == []
    assert await found(api, "whales", rootId="nobody") == []
    assert len(await found(api, "鯨")) == 1
    assert len(await api.ask('{ search(query: "whales") { score } }')) == 1


async def test_snippets_show_no_thinking(api: Api) -> None:
    """The message is as it is stored; its snippet is what can be seen of it."""
    await planted(api)

    (hit,) = await found(api, "half brain")

    assert hit["snippet"] == "Yes, with half their brain."
    assert hit["message"]["content"].startswith("<think>")


@pytest.mark.parametrize(
    ("query", "arguments"),
    [
        ("", {}),
        ("  ", {}),
        ("?!…", {}),
        ("x" * 1_001, {}),
        ("鯨" * 1_001, {}),
        ("x\x00", {}),
        ("whales", {"in": []}),
        ("whales", {"in": ["NOWHERE"]}),
        ("whales", {"rootId": "no id"}),
        ("whales", {"first": 0}),
        (None, {}),
        ("a* b* c* d* e* f* g* h* 字", {}),
    ],
)
async def test_refused(api: Api, query: str | None, arguments: dict[str, Any]) -> None:
    """What cannot be searched for is INVALID_INPUT, before any query runs."""
    api.engine.ran.clear()
    refusal = await api.refused(SEARCH, query=query, **arguments)

    assert refusal["code"] == "INVALID_INPUT"
    assert "search/find" not in api.engine.ran


async def test_too_many(api: Api) -> None:
    assert (await api.refused(SEARCH, query="whales", first=1_001))["code"] == "LIMIT_EXCEEDED"
    assert len(await found(api, "鯨" * 1_000)) == 0


async def test_readers_may(api: Api) -> None:
    """A key that only reads may search."""
    await planted(api)
    api.scope = KeyScope.READ

    assert len(await found(api, "whales")) == 3


async def test_a_session_that_goes_meanwhile_is_null(api: Api, monkeypatch: pytest.MonkeyPatch) -> None:
    """A session deleted between finding and reading nulls its field, never the list."""
    await planted(api)
    read = api.engine.read

    async def read_then_delete(query: Query, counted: Reading | None = None, /, **params: Any) -> list[Row]:
        rows = await read(query, counted, **params)
        if query.name == "search/find":
            await api.ask('mutation { deleteSession(id: "a", expectedCount: 2) }')
        return rows

    monkeypatch.setattr(api.engine, "read", read_then_delete)
    hits = await found(api, "whales")
    monkeypatch.undo()

    assert [hit["session"] for hit in hits] == [None] * 3
    assert hits[2]["message"]["content"] == "Do whales sleep?"
    assert await found(api, "whales") == []
