"""What a request costs beside another of the same run, over ASGI and SQLite in this process.

A guard and no benchmark: ratios of processor time, medians of rounds in which all take turns. The limits are
twice what was measured and more; what passes them has become another kind of work.
"""

import json
import time
from collections.abc import Awaitable, Callable
from statistics import median
from typing import Any, Final

import pytest
from strawberry.schema.schema import StrawberryGraphQLCoreExecutionContext

from stello_graph.graphql.executor import RowExecutor
from stello_graph.graphql.schema import schema
from stello_graph.ids import DEFAULT_SPACE
from stello_graph.model.writes import PlacedDraft
from stello_graph.ports import SpaceStore
from tests.unit.http.conftest import App, OpenApp

ROUNDS: Final = 9
WIDTH: Final = 8

NODE: Final = "id label childCount depth index status role"
CHILDREN: Final = f"{{ getChildren(first: {WIDTH}) {{ {NODE} }} }}"
NESTED: Final = (
    f"{{ getChildren(first: {WIDTH}) {{ {NODE} children(first: {WIDTH}) {{ {NODE} "
    f"children(first: {WIDTH}) {{ {NODE} }} }} }} }}"
)
DIGESTS: Final = "{ digests(first: 500) { nodes { id label status memory insight updatedAt eventSeq } } }"
GRAPHQL_CORE: Final = StrawberryGraphQLCoreExecutionContext
# A document, who executes it, and how often in a round.
DOCUMENTS: Final[dict[str, tuple[str, type[StrawberryGraphQLCoreExecutionContext], int]]] = {
    "nothing": ("{ __typename }", RowExecutor, 10),
    "8 children": (CHILDREN, RowExecutor, 5),
    "584 nested": (NESTED, RowExecutor, 1),
    "584 nested, by graphql-core": (NESTED, GRAPHQL_CORE, 1),
    "500 digests": (DIGESTS, RowExecutor, 1),
    "500 digests, by graphql-core": (DIGESTS, GRAPHQL_CORE, 1),
}
# Measured: 2.7, 18, 0.25, 13, 0.28.
AT_MOST: Final = {
    ("8 children", "nothing"): 6.0,
    ("584 nested", "nothing"): 40.0,
    ("584 nested", "584 nested, by graphql-core"): 0.6,
    ("500 digests", "nothing"): 30.0,
    ("500 digests", "500 digests, by graphql-core"): 0.6,
}

Ask = Callable[[str], Awaitable[Any]]


async def plant(space: SpaceStore) -> None:
    """Three levels of sessions, each with as many children."""
    level: list[str | None] = [None]
    for _ in range(3):
        drafts = [
            PlacedDraft(id=f"{parent or 'n'}-{n}", parent_id=parent, label=f"Session {n}", messages=())
            for parent in level
            for n in range(WIDTH)
        ]
        assert await space.import_sessions(drafts)
        level = [draft.id for draft in drafts]


def asker(app: App) -> Ask:
    """Posts documents, without a client or a socket."""

    async def ask(document: str) -> Any:
        body = json.dumps({"query": document}).encode()
        headers = [(b"content-type", b"application/json"), (b"host", b"localhost")]
        answered: list[Any] = []

        async def receive() -> Any:
            return {"type": "http.request", "body": body, "more_body": False}

        async def send(message: Any) -> None:
            answered.append(message)

        scope = {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": "POST",
            "scheme": "http",
            "path": "/graphql",
            "raw_path": b"/graphql",
            "query_string": b"",
            "root_path": "",
            "headers": headers,
            "client": ("127.0.0.1", 50_000),
            "server": ("localhost", 80),
        }
        await app.asgi(scope, receive, send)
        return json.loads(b"".join(message.get("body", b"") for message in answered))["data"]

    return ask


async def test_ratios(open_app: OpenApp) -> None:
    """A small read costs a few empty requests, and many rows far less than by graphql-core's own way."""
    app: App = await open_app()
    await plant(app.graph.store.in_space(DEFAULT_SPACE))
    ask = asker(app)
    assert len((await ask(DIGESTS))["digests"]["nodes"]) == 500
    assert json.dumps(await ask(NESTED)).count('"id"') == 8 + 64 + 512
    rounds: list[dict[str, float]] = []
    for _ in range(ROUNDS):
        rounds.append({name: await cost(ask, name) for name in DOCUMENTS})

    for (name, beside), most in AT_MOST.items():
        assert median(one[name] / one[beside] for one in rounds) <= most, (name, beside)


async def cost(ask: Ask, name: str) -> float:
    """Seconds of processor time for one request, threads included."""
    document, executor, times = DOCUMENTS[name]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(schema, "execution_context_class", executor)
        before = time.process_time()
        for _ in range(times):
            await ask(document)
        return (time.process_time() - before) / times
