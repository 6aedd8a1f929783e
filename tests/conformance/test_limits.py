"""Limits hold on each engine: what is refused before it runs reaches no store; what is read is bounded."""

import asyncio
from typing import Any

import pytest
from starlette.applications import Starlette

from stello_graph.graphql.context import Context
from stello_graph.graphql.schema import schema
from stello_graph.http.app import app_of
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.values import KeyScope, Viewer
from stello_graph.ports import SpaceStore
from stello_graph.ports.answers import answering
from stello_graph.service import StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.engine import Engine, Row, WrappedEngine
from stello_graph.store.queries import Query
from stello_graph.store.reading import Reading
from stello_graph.store.store import GraphStore
from tests.conformance.conftest import OpenEngine
from tests.conformance.drafts import create, said
from tests.e2e.waiting import until
from tests.unit.http.calls import post
from tests.unit.http.sockets import socket

FOLLOW = "subscription { topologyEvents(after: 0) { seq type nodeId } }"
STREAM = {"accept": "text/event-stream"}
PAGE = 'query ($n: Int!) { session(id: "a") { messages(last: $n) { nodes { seq content } } } }'
REFUSED = [
    ('{ topologyNode(id: "a") { parent { parent { id } } } }', "LIMIT_EXCEEDED"),
    ('{ a: topologyNode(id: "a") { id } b: me { scope } }', "LIMIT_EXCEEDED"),
    ("{ " + "__typename " * 60 + "}", "LIMIT_EXCEEDED"),
    ("{ getChildren(first: 30) { children(first: 1) { id } } }", "LIMIT_EXCEEDED"),
    ("{ sessions(first: 31) { totalCount } }", "LIMIT_EXCEEDED"),
    ('{ session(id: "a") { messages(last: 31) { totalCount } } }', "LIMIT_EXCEEDED"),
    ("{ sessions(first: -1) { totalCount } }", "INVALID_INPUT"),
    (
        '{ contextPreview(sessionId: "a", content: "' + "x" * 101 + '") { estimatedTokens } }',
        "LIMIT_EXCEEDED",
    ),
    ('mutation { putMemory(sessionId: "a", content: "' + "x" * 101 + '") { id } }', "LIMIT_EXCEEDED"),
    (
        'mutation { startTurn(input: {sessionId: "a", content: "' + "x" * 101 + '"}) { id } }',
        "LIMIT_EXCEEDED",
    ),
    ('mutation { createSession(input: {label: "' + "x" * 201 + '"}) { id } }', "INVALID_INPUT"),
    ('{ search(query: "a* b* c* d* e* f* g* h* i*") { score } }', "INVALID_INPUT"),
]


class Recording(WrappedEngine):
    """Remembers what it is asked."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self.ran: list[str] = []

    async def read(self, query: Query, counted: Reading | None = None, /, **params: Any) -> list[Row]:
        """See Engine."""
        self.ran.append(query.name)
        return await super().read(query, counted, **params)

    async def write(self, query: Query, **params: Any) -> list[Row]:
        """See Engine."""
        self.ran.append(query.name)
        return await super().write(query, **params)


class Api:
    """GraphQL, and its app, in one Space of a process without a background."""

    def __init__(self, engine: Recording, space_id: str, **settings: Any) -> None:
        self.engine = engine
        self.viewer = Viewer(space_id=space_id, scope=KeyScope.ADMIN, key_name="test")
        given = Settings(grace=0, event_seconds=0.05, **settings)
        self.graph = StelloGraph(GraphStore(engine), ScriptedLLM(default="done"), given)
        self.app: Starlette = app_of(self.graph, opens=False, authenticate=lambda *_: self.viewer)

    async def ask(self, document: str, **variables: Any) -> dict[str, Any]:
        """The answer, with its errors as they are told."""
        context = Context(self.graph, self.viewer)
        result = await schema.execute(document, variable_values=variables, context_value=context)
        codes = [(error.extensions or {}).get("code") for error in result.errors or ()]
        return {"data": result.data, "codes": codes}


@pytest.fixture
def recording(open_engine: OpenEngine) -> Recording:
    return Recording(open_engine())


async def test_refused_before_it_runs(space: SpaceStore, recording: Recording) -> None:
    """Depth, aliases, tokens, cost, pages, sizes, beginnings: each costs no statement."""
    api = Api(
        recording, space.space_id, max_query_depth=2, max_query_aliases=1, max_query_tokens=60,
        max_query_cost=40, max_page=30, max_content_bytes=100,
    )  # fmt: skip
    await create(space, "Top")
    for document, code in REFUSED:
        assert await api.ask(document) == {"data": None, "codes": [code]}, document
        assert recording.ran == [], document
    assert (await api.ask("{ sessions(first: 30) { totalCount } }"))["data"] == {
        "sessions": {"totalCount": 1}
    }


async def test_too_many_requests(space: SpaceStore, recording: Recording) -> None:
    """More than the Space may ask in a second is 429 without a statement."""
    api = Api(recording, space.space_id, rate_limit=1)

    async def status() -> int:
        async with post(api.app, "{ sessions { totalCount } }") as answer:
            await answer.until(b"}")
        return answer.status

    statuses = await asyncio.gather(*(status() for _ in range(20)))
    assert set(statuses) == {200, 429}
    assert recording.ran.count("sessions/count") == statuses.count(200)


async def test_places_of_turns(space: SpaceStore, recording: Recording) -> None:
    """A Space that is full of turns begins none, without a statement."""
    api = Api(recording, space.space_id, max_turns=1)
    document = 'mutation { startTurn(input: {sessionId: "a", content: "b"}) { id } }'
    with api.graph.turns._slots.one(space.space_id, busy=False):
        assert (await api.ask(document))["codes"] == ["LIMIT_EXCEEDED"]
        assert recording.ran == []
    assert (await api.ask(document))["codes"] == ["NOT_FOUND"]


async def test_places_of_subscriptions(space: SpaceStore, recording: Recording) -> None:
    """A stream tells what is written; beside it there is no place, and once its client has gone there is."""
    api = Api(recording, space.space_id, max_space_subscriptions=1)
    places = api.graph.subscriptions._taken
    async with post(api.app, FOLLOW, STREAM) as stream:
        made = await create(space, "Top")
        await stream.until(made.id.encode())
        async with socket(api.app) as client:
            client.subscribe("1", FOLLOW)
            error = (await client.until("next", "1"))["payload"]["errors"][0]["extensions"]
            assert error == {"code": "LIMIT_EXCEEDED", "retryable": True}
    assert [kind for kind, _ in stream.events] == ["next"]
    await until(lambda: not places, "the place is free")
    async with socket(api.app) as client:
        client.subscribe("1", FOLLOW)
        told = (await client.until("next", "1"))["payload"]["data"]["topologyEvents"]
    assert (told["type"], told["nodeId"]) == ("SESSION_CREATED", made.id)
    await until(lambda: not places, "the place is free again")


async def test_texts_of_an_answer(space: SpaceStore, recording: Recording) -> None:
    """What is too large is refused whole, by what is told as by what is read; a smaller page is answered."""
    api = Api(recording, space.space_id, max_answer_bytes=100_000)
    made = await create(space, "Top", system_prompt="p" * 50_000)
    await space.append(made.id, [said("x" * 30_000) for _ in range(100)])
    page = PAGE.replace('"a"', f'"{made.id}"')

    refused = {"data": None, "codes": ["LIMIT_EXCEEDED"]}
    assert await api.ask(page, n=4) == refused
    assert await api.ask(page, n=100) == refused
    whole = page.replace("content", "toolCalls { id }")
    assert await api.ask(whole, n=100) == refused, "a message that is not told in parts is read whole"
    places = await api.ask(page.replace("content", ""), n=100)
    assert [node["seq"] for node in places["data"]["session"]["messages"]["nodes"]] == [*range(1, 101)]
    found = (await api.ask(page, n=3))["data"]["session"]["messages"]["nodes"]
    assert [(node["seq"], len(node["content"])) for node in found] == [
        (98, 30_000),
        (99, 30_000),
        (100, 30_000),
    ]
    for _ in range(9):
        await create(space, "Another", system_prompt="p" * 50_000)
    assert (await api.ask("{ sessions(first: 6) { nodes { id } } }"))["codes"] == []
    assert await api.ask("{ sessions(first: 10) { nodes { id } } }") == refused


async def test_rows_that_are_too_many_stay_in_the_store(space: SpaceStore, recording: Recording) -> None:
    """A read for an answer brings the same rows as any other, or none; those at once share what is left."""
    ids = [(await create(space, f"S{number}")).id for number in range(3)]
    for id in ids:
        await space.append(id, [said("x" * 10_000) for _ in range(5)])
    store = GraphStore(recording).in_space(space.space_id)

    def page(*of: str) -> Any:
        return store.newest_messages(list(of), after=0, before=2**31, first=10, roles=None)

    plain = await page(*ids)
    with answering(50_000):
        assert await page(*ids) == plain
    with answering(35_000) as answer:
        found = await asyncio.gather(*(page(id) for id in ids), return_exceptions=True)
        assert [isinstance(one, Exception) for one in found] == [False, False, True]
        assert answer.refused
    assert await page(*ids) == plain


async def test_answers_that_read_at_once(space: SpaceStore, recording: Recording) -> None:
    """They are asked as one, and of each answer as much is left as if it had read alone."""
    ids = [(await create(space, f"S{number}")).id for number in range(3)]
    for number, id in enumerate(ids):
        await space.append(id, [said("x" * 1_000 * number) for _ in range(5)])
    store = GraphStore(recording).in_space(space.space_id)

    async def left(*of: str) -> int:
        with answering(50_000) as answer:
            await store.newest_messages(list(of), after=0, before=2**31, first=10, roles=None)
            return answer.left

    pages = [ids[:1], ids[1:], ids[1:2], ["gone"]]
    alone = [await left(*page) for page in pages]
    recording.ran.clear()
    assert await asyncio.gather(*(left(*page) for page in pages)) == alone
    assert recording.ran == ["messages/newest"]
    assert len(set(alone)) == 4
