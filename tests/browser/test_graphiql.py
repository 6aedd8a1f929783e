"""GraphiQL in a real browser, without a network, under its policy.

The server is a stand-in: this file run as a script, with a small schema and the pages of
`stello_graph.http.pages`, both at the root and under a prefix.
"""

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import pytest
import strawberry
import uvicorn
from playwright.sync_api import BrowserContext, Page, expect
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket
from strawberry.asgi import GraphQL
from strawberry.exceptions import ConnectionRejectionError
from strawberry.subscriptions import GRAPHQL_TRANSPORT_WS_PROTOCOL

from stello_graph.http.pages import graphiql_page, static_mount
from tests.browser.console import Console

pytestmark = pytest.mark.browser

WRONG_KEY: Final = "sk-wrong"
# GraphiQL reads the operation's name 100 ms after an edit; until then it sends the former name.
EDITOR_SETTLES_MS: Final = 400
NO_SOCKET: Final = """
    window.WebSocket = class extends WebSocket {
        constructor() { super('ws://127.0.0.1:9/'); }
    };
"""


@strawberry.type
class TopologyNode:
    id: strawberry.ID
    label: str
    child_count: int


@strawberry.type
class Session:
    id: strawberry.ID
    label: str


@strawberry.input
class CreateSessionInput:
    label: str


@strawberry.type
class Query:
    @strawberry.field
    def get_children(self, parent_id: strawberry.ID | None = None) -> list[TopologyNode]:
        return [TopologyNode(id=strawberry.ID("r1"), label="Kitchen", child_count=3)]

    @strawberry.field
    def authorization(self, info: strawberry.Info) -> str | None:
        request: HttpRequest = info.context["request"]
        return request.headers.get("authorization")


@strawberry.type
class Mutation:
    @strawberry.mutation
    def create_session(self, input: CreateSessionInput) -> Session:
        return Session(id=strawberry.ID("s1"), label=input.label)


@strawberry.type
class Subscription:
    @strawberry.subscription
    async def countdown(self, start: int = 5) -> AsyncGenerator[int, None]:
        for value in range(start, -1, -1):
            await asyncio.sleep(0.02)
            yield value

    @strawberry.subscription
    async def authorization(self, info: strawberry.Info) -> AsyncGenerator[str | None, None]:
        yield (info.context.get("connection_params") or {}).get("Authorization")

    @strawberry.subscription
    async def forever(self) -> AsyncGenerator[int, None]:
        yield 1
        await asyncio.Event().wait()


class StandIn(GraphQL[dict[str, Any], None]):
    async def render_graphql_ide(self, request: HttpRequest) -> Response:
        return await graphiql_page(request)

    async def on_ws_connect(self, context: dict[str, Any]) -> Any:
        given = (context.get("connection_params") or {}).get("Authorization")
        if given == f"Bearer {WRONG_KEY}":
            raise ConnectionRejectionError
        return strawberry.UNSET

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            given = HttpRequest(scope).headers.get("authorization")
            if given == f"Bearer {WRONG_KEY}":
                refusal = {"message": "Not a key.", "extensions": {"code": "UNAUTHENTICATED"}}
                await JSONResponse({"errors": [refusal]}, 401)(scope, receive, send)
                return
        await super().__call__(scope, receive, send)


def stand_in() -> Starlette:
    schema = strawberry.Schema(query=Query, mutation=Mutation, subscription=Subscription)
    graphql = StandIn(schema, subscription_protocols=[GRAPHQL_TRANSPORT_WS_PROTOCOL])

    async def over_socket(websocket: WebSocket) -> None:
        await graphql(websocket.scope, websocket.receive, websocket.send)

    routes = [
        Route("/graphql", graphql, methods=["GET", "POST"]),
        WebSocketRoute("/graphql", over_socket),
        static_mount(),
    ]
    return Starlette(routes=[Mount("/ai", routes=routes), *routes])


@contextmanager
def stand_in_server() -> Iterator[str]:
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(root), os.environ.get("PYTHONPATH", "")])
    process = subprocess.Popen(
        [sys.executable, __file__],
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": path},
    )
    try:
        assert process.stdout
        yield f"http://127.0.0.1:{int(process.stdout.readline())}"
    finally:
        process.terminate()
        process.communicate(timeout=15)


@pytest.fixture(scope="module")
def server() -> Iterator[str]:
    with stand_in_server() as url:
        yield url


def open_page(page: Page, address: str) -> None:
    page.goto(address)
    expect(page.locator(".graphiql-execute-button")).to_be_visible()
    expect(page.locator(".graphiql-spinner")).to_have_count(0)


def run(page: Page, query: str) -> None:
    page.locator(".graphiql-query-editor .CodeMirror").click()
    page.keyboard.press("ControlOrMeta+a")
    page.keyboard.insert_text(query)
    page.wait_for_timeout(EDITOR_SETTLES_MS)
    page.keyboard.press("Control+Enter")


def result(page: Page) -> str:
    text: str = page.evaluate("document.querySelector('.result-window .CodeMirror').CodeMirror.getValue()")
    return text


def expect_result(page: Page, expected: dict[str, Any]) -> None:
    script = """expected => {
        const text = document.querySelector('.result-window .CodeMirror').CodeMirror.getValue();
        try { return JSON.stringify(JSON.parse(text)) === expected } catch { return false }
    }"""
    try:
        page.wait_for_function(script, arg=json.dumps(expected, separators=(",", ":")), timeout=60_000)
    except Exception as error:
        raise AssertionError(f"expected {expected}, the page shows {result(page)}") from error


def use_key(page: Page, key: str) -> None:
    page.get_by_label("API key").fill(key)
    page.get_by_label("API key").press("Enter")


@pytest.mark.parametrize("prefix", ["", "/ai"], ids=["at the root", "under a prefix"])
def test_query_mutation_and_subscription(page: Page, console: Console, server: str, prefix: str) -> None:
    open_page(page, f"{server}{prefix}/graphql")
    page.locator(".graphiql-execute-button").click()
    expect_result(page, {"data": {"getChildren": [{"id": "r1", "label": "Kitchen", "childCount": 3}]}})
    run(page, 'mutation { createSession(input: {label: "Hello"}) { id label } }')
    expect_result(page, {"data": {"createSession": {"id": "s1", "label": "Hello"}}})
    run(page, "subscription { countdown(start: 3) }")
    expect_result(page, {"data": {"countdown": 0}})
    assert console.sockets == [server.replace("http", "ws") + f"{prefix}/graphql"]
    assert set(console.sent_authorization()) == {None}
    assert console.connection_payloads() == [None]


def test_documentation_history_and_explorer_open(page: Page, console: Console, server: str) -> None:
    open_page(page, f"{server}/graphql")
    page.get_by_label("Show Documentation Explorer").click()
    expect(page.locator(".graphiql-doc-explorer")).to_contain_text("Mutation")
    page.get_by_label("Show GraphiQL Explorer").click()
    explorer = page.locator(".docExplorerWrap")
    expect(explorer).to_contain_text("getChildren")
    explorer.get_by_text("authorization", exact=True).first.click()
    expect(page.locator(".graphiql-query-editor .CodeMirror-code")).to_contain_text("authorization")
    page.wait_for_timeout(EDITOR_SETTLES_MS)
    page.locator(".graphiql-execute-button").click()
    page.get_by_label("Show History").click()
    expect(page.locator(".graphiql-history-items li")).to_have_count(1)


def test_the_key_goes_with_requests_and_sockets(page: Page, console: Console, server: str) -> None:
    open_page(page, f"{server}/graphql")
    use_key(page, "sk-right")
    run(page, "{ authorization }")
    expect_result(page, {"data": {"authorization": "Bearer sk-right"}})
    run(page, "subscription { authorization }")
    expect_result(page, {"data": {"authorization": "Bearer sk-right"}})
    assert console.sent_authorization()[-1] == "Bearer sk-right"
    assert console.connection_payloads() == [{"Authorization": "Bearer sk-right"}]
    page.reload()
    run(page, "{ authorization }")
    expect_result(page, {"data": {"authorization": "Bearer sk-right"}})
    page.get_by_role("button", name="Forget").click()
    run(page, "{ authorization }")
    expect_result(page, {"data": {"authorization": None}})


def test_a_refused_key_is_said_and_not_tried_again(page: Page, server: str) -> None:
    seen = Console(server)
    seen.listen(page)
    open_page(page, f"{server}/graphql")
    use_key(page, WRONG_KEY)
    expect(page.get_by_role("status")).to_have_text("The server refused this key")
    run(page, "subscription { countdown }")
    expect_result(page, {"errors": [{"message": "The server closed the socket: 4403 Forbidden"}]})
    page.wait_for_timeout(5000)
    assert len(seen.sockets) == 1
    assert seen.foreign == []


def test_another_key_ends_what_runs_under_the_old_one(page: Page, console: Console, server: str) -> None:
    open_page(page, f"{server}/graphql")
    use_key(page, "sk-one")
    run(page, "subscription { forever }")
    expect_result(page, {"data": {"forever": 1}})
    use_key(page, "sk-two")
    expect(page.locator(".result-window")).to_contain_text("The API key changed")
    run(page, "subscription { authorization }")
    expect_result(page, {"data": {"authorization": "Bearer sk-two"}})
    assert [payload["Authorization"] for payload in console.connection_payloads()] == [
        "Bearer sk-one",
        "Bearer sk-two",
    ]


def test_nothing_written_outlives_the_tab(
    page: Page, console: Console, context: BrowserContext, server: str
) -> None:
    open_page(page, f"{server}/graphql")
    use_key(page, "sk-secret")
    run(page, '{ getChildren(parentId: "private-words") { id } }')
    page.wait_for_timeout(1000)
    assert "private-words" in page.evaluate("JSON.stringify({...sessionStorage})")
    assert page.evaluate("JSON.stringify({...localStorage})") == "{}"
    assert context.cookies() == []
    other = context.new_page()
    open_page(other, f"{server}/graphql")
    assert other.get_by_label("API key").input_value() == ""


def test_no_socket_is_explained(page: Page, server: str) -> None:
    page.add_init_script(NO_SOCKET)
    open_page(page, f"{server}/graphql")
    run(page, "subscription { countdown }")
    expect(page.locator(".result-window")).to_contain_text("has to forward Upgrade")


def main() -> None:
    listener = socket.create_server(("127.0.0.1", 0))
    print(listener.getsockname()[1], flush=True)
    uvicorn.Server(uvicorn.Config(stand_in(), log_level="warning")).run(sockets=[listener])


if __name__ == "__main__":
    main()
