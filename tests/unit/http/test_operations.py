"""A document of several operations runs the one that is named, or none."""

import json
from typing import Any

import pytest

from stello_graph.http.view import GraphQLView
from tests.unit.http.calls import post, sent
from tests.unit.http.conftest import App, OpenApp
from tests.unit.http.sockets import socket

FAILS = '{ session(id: "no id") { id } }'
SEVERAL = (
    'mutation Make { createSession(input: {id: "made"}) { id } } '
    "query Who { me { scope } } "
    'subscription Follow { turnEvents(turnId: "nobody") { seq } }'
)
TRANSPORTS = ("http", "sse", "socket")


async def asked(app: App, transport: str, document: str, name: str | None) -> dict[str, Any]:
    """The answer to an operation by one of the transports: data, or errors."""
    app.forget()
    if transport == "socket":
        async with socket(app.asgi) as client:
            client.subscribe("1", document, name)
            await client.over("1")
        told = next(message for message in client.told if message.get("id") == "1")
        payload = told["payload"]
        return payload if told["type"] == "next" else {"errors": payload}
    headers = {"accept": "text/event-stream"} if transport == "sse" else {}
    async with post(app.asgi, document, headers, operation=name) as answer:
        await answer.until(b"event: complete" if transport == "sse" else b"}")
    found: dict[str, Any] = answer.events[0][1] if transport == "sse" else answer.json
    return found


@pytest.mark.parametrize("transport", TRANSPORTS)
@pytest.mark.parametrize("name", [None, "", "Nobody", "who", "\x00", "x" * 10_000])
async def test_which_operation_is_not_told(open_app: OpenApp, transport: str, name: str | None) -> None:
    """Without a name and with an unknown one it is INVALID_INPUT, before any statement."""
    app = await open_app()
    (error,) = (await asked(app, transport, SEVERAL, name))["errors"]
    assert error["extensions"] == {"code": "INVALID_INPUT", "retryable": False}
    assert app.ran == []
    if name is None:
        assert "operationName" in error["message"]


@pytest.mark.parametrize("transport", TRANSPORTS)
async def test_the_named_operation_runs(open_app: OpenApp, transport: str) -> None:
    """And no other; the only one needs no name, but a name that is given is its own."""
    app = await open_app()
    assert await asked(app, transport, SEVERAL, "Who") == {"data": {"me": {"scope": "ADMIN"}}}
    assert app.ran == []
    only = "query Who { me { scope } } fragment F on Query { me { scope } }"
    for name in (None, "Who"):
        answered = await asked(app, transport, only.replace("{ me", "{ ...F me", 1), name)
        assert json.dumps(answered) == '{"data": {"me": {"scope": "ADMIN"}}}'
    (error,) = (await asked(app, transport, "{ me { scope } }", "Who"))["errors"]
    assert error["extensions"]["code"] == "INVALID_INPUT"


@pytest.mark.parametrize("accept", ["application/json", "text/event-stream"])
@pytest.mark.parametrize(
    ("part", "value"),
    [("query", 1), ("query", ["{ me }"]), ("variables", "{}"), ("variables", []), ("operationName", 1),
     ("operationName", {}), ("extensions", []), ("extensions", "")],
)  # fmt: skip
async def test_parts_that_are_none(open_app: OpenApp, accept: str, part: str, value: object) -> None:
    """The refusal names what is wrong, whatever was to answer."""
    app = await open_app()
    body = json.dumps({"query": "{ me { scope } }"} | {part: value}).encode()
    headers = {"content-type": "application/json", "accept": accept}
    async with sent(app.asgi, "/graphql", [body], headers) as answer:
        await answer.until(b"}")
    (error,) = answer.json["errors"]
    assert (answer.status, error["extensions"]["code"]) == (400, "INVALID_INPUT")
    assert part in error["message"]


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b"1", b"{}", b'{"query": ""}'])
async def test_bodies_that_ask_nothing(open_app: OpenApp, body: bytes) -> None:
    """They are INVALID_INPUT, and nothing runs."""
    app = await open_app()
    app.forget()
    async with sent(app.asgi, "/graphql", [body], {"content-type": "application/json"}) as answer:
        await answer.until(b"}")
    (error,) = answer.json["errors"]
    assert (answer.status, error["extensions"]["code"]) == (400, "INVALID_INPUT")
    assert app.ran == []


@pytest.mark.parametrize("transport", ["http", "sse"])
async def test_errors_reach_the_hook_that_tools_use(
    open_app: OpenApp, monkeypatch: pytest.MonkeyPatch, transport: str
) -> None:
    """Strawberry's, in whose place watching tools put something; where there are none it is not called."""
    app, seen = await open_app(), []
    monkeypatch.setattr(GraphQLView, "_handle_errors", lambda _, *told: seen.append(told))
    await asked(app, transport, "{ me { scope } }", None)
    assert seen == []
    answered = await asked(app, transport, FAILS, None)
    ((errors, answer),) = seen
    assert [error.message for error in errors] == [error["message"] for error in answered["errors"]]
    assert answer["errors"] == answered["errors"]
