"""No request, whatever it holds, makes a 500 or a stack trace."""

import asyncio
import contextlib
import json
import random
import re
from collections.abc import AsyncIterator, Iterator
from typing import Any, Final

import httpx
import pytest
from websockets.exceptions import ConnectionClosed

from tests.e2e import documents
from tests.e2e.client import Client
from tests.e2e.conftest import sqlite_store
from tests.e2e.processes import Server, start

MIB: Final = 1024 * 1024
JSON: Final = {"Content-Type": "application/json"}
ME: Final = "{ me { scope } }"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that must not log a stack trace."""
    folder = tmp_path_factory.mktemp("hardening")
    started = start(sqlite_store(folder), folder / "server.log")
    try:
        started.wait_ready()
        yield started
    finally:
        started.close()


@pytest.fixture
async def client(server: Server) -> AsyncIterator[Client]:
    """It finds the server as well after the test as before."""
    before = len(server.output())
    async with server.client() as client:
        yield client
        assert await client.ask(ME) == {"me": {"scope": "ADMIN"}}
    logged = server.output()[before:]
    assert "Traceback" not in logged
    assert "unexpected error" not in logged


async def post(
    client: Client, body: bytes | str | Any, headers: dict[str, str] | None = None
) -> tuple[int, str]:
    """The status, and the code of the first error or nothing."""
    content = body if isinstance(body, bytes) else body.encode()
    answer = await client.http.post("/graphql", content=content, headers=JSON if headers is None else headers)
    assert "Traceback" not in answer.text
    assert answer.headers["content-type"] == "application/json", answer.text
    errors = answer.json().get("errors")
    assert not errors or "extensions" in errors[0], answer.text
    return answer.status_code, errors[0]["extensions"]["code"] if errors else ""


@pytest.mark.covers("TC23")
@pytest.mark.parametrize(
    ("method", "headers", "status"),
    [
        ("GET", {}, 405),
        ("GET", {"Accept": "application/json"}, 405),
        ("PUT", JSON, 405),
        ("DELETE", {}, 405),
        ("PATCH", JSON, 405),
        ("OPTIONS", {}, 405),
        ("POST", {}, 415),
        ("POST", {"Content-Type": "text/plain"}, 415),
        ("POST", {"Content-Type": "application/graphql"}, 415),
        ("POST", {"Content-Type": "application/x-www-form-urlencoded"}, 415),
        ("POST", {"Content-Type": "multipart/form-data; boundary=x"}, 415),
        ("POST", {"Content-Type": "application/json; charset=utf-8"}, 200),
    ],
    ids=str,
)
async def test_methods_and_types(client: Client, method: str, headers: dict[str, str], status: int) -> None:
    """Queries go by POST, as JSON; a page of another origin cannot send that without being asked."""
    content = None if method in ("GET", "OPTIONS") else json.dumps({"query": ME}).encode()
    answer = await client.http.request(
        method, "/graphql?query=%7Bme%7Bscope%7D%7D", content=content, headers=headers
    )
    assert answer.status_code == status
    if status != 200:
        assert answer.json()["errors"][0]["extensions"]["code"] == "INVALID_INPUT"


@pytest.mark.parametrize(
    "body",
    [
        "",
        "{",
        "nope",
        "null",
        "1",
        '"text"',
        "[]",
        "[1]",
        "{}",
        '{"query": null}',
        '{"query": 5}',
        '{"query": ""}',
        '{"query": ["{ me { scope } }"]}',
        '{"query": "{ me { scope } }", "variables": []}',
        '{"query": "{ me { scope } }", "variables": "x"}',
        '{"query": "{ me { scope } }", "operationName": 5}',
        '{"query": "{ me { scope } }", "extensions": 5}',
        '{"query": "{ me { scope } }", "variables": {"x": "\\ud800"}}',
        '{"query": "{ me { scope } }", "variables": {"x": NaN}}',
        '{"query": "{ me { scope } }", "variables": {"x": Infinity}}',
        "\ufeff{}",
        '{"query": "query A { me { scope } }", "operationName": "B"}',
    ],
    ids=lambda body: body[:40] or "nothing",
)
async def test_bodies_that_are_no_request(client: Client, body: str) -> None:
    """400, or a GraphQL error: INVALID_INPUT."""
    status, code = await post(client, body)
    assert status in (200, 400)
    assert code == "INVALID_INPUT" or "extensions" in body


@pytest.mark.parametrize(
    "body", [b"\xff\xfe", b'{"query": "\xff"}', b"\x00", b'{"query": "\xed\xa0\x80"}'], ids=repr
)
async def test_bytes_that_are_no_text(client: Client, body: bytes) -> None:
    """Whatever is not UTF-8 is 400."""
    assert await post(client, body) == (400, "INVALID_INPUT")


async def test_bodies_that_are_too_large(client: Client) -> None:
    """413 beyond 2 MiB, whether the length is told or not."""
    head = json.dumps({"query": ME, "variables": {"x": ""}})[:-3].encode()

    def body(size: int) -> bytes:
        return head + b"x" * (size - len(head) - 3) + b'"}}'

    assert await post(client, body(2 * MIB)) == (200, "")
    assert await post(client, body(2 * MIB + 1)) == (413, "LIMIT_EXCEEDED")

    async def chunks() -> AsyncIterator[bytes]:
        for _ in range(40):
            yield b"x" * 65_536

    answer = await client.http.post("/graphql", content=chunks(), headers=JSON)
    assert (answer.status_code, answer.json()["errors"][0]["extensions"]["code"]) == (413, "LIMIT_EXCEEDED")


@pytest.mark.parametrize(
    "body",
    [
        "[" * 100_000,
        '{"query": "{ me { scope } }", "variables": {"x": ' + "[" * 900 + "]" * 900 + "}}",
        '{"query": "{ me { scope } }", "variables": {"x": ' + '{"a":' * 50_000 + "1" + "}" * 50_000 + "}}",
        json.dumps({"query": "{" + "a{" * 50_000 + "b" + "}" * 50_001}),
        json.dumps({"query": "{ x(a: " + "[" * 50_000 + "]" * 50_000 + ") }"}),
        json.dumps({"query": "query ($x: " + "[" * 50_000 + "Int" + "]" * 50_000 + ") { me { scope } }"}),
        json.dumps({"query": "{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }"}),
        json.dumps({"query": "{ me { " + "... { " * 20_000 + "scope" + " }" * 20_000 + " } }"}),
        json.dumps({"query": "{" * 1_000_000}),
        json.dumps({"query": '"' + "x" * 1_000_000}),
        json.dumps({"query": "#" * 1_900_000}),
    ],
    ids=lambda body: f"{body[:30]}… {len(body)}",
)
async def test_bodies_that_are_too_deep(client: Client, body: str) -> None:
    """Refused, or answered where only unused variables are deep; never a fault of ours."""
    status, code = await post(client, body)
    assert status in (200, 400)
    assert code in ("", "INVALID_INPUT", "LIMIT_EXCEEDED")


CREATE: Final = (
    "mutation ($input: CreateSessionInput!) { createSession(input: $input) { id label metadata } }"
)


@pytest.mark.parametrize(
    "given",
    [
        {"label": "a\x00b"},
        {"systemPrompt": "a\x00b"},
        {"tags": ["a\x00b"]},
        {"metadata": {"a": "\x00"}},
        {"metadata": {"\x00": 1}},
        {"id": "a\x00b"},
        {"id": "ü"},
        {"id": ""},
        {"id": "x" * 129},
        {"id": "../../etc"},
        {"label": "x" * 201},
        {"label": "line\nbreak"},
        {"label": "\u2028"},
        {"tags": [""]},
        {"parentId": "a/b"},
        {"role": "KING"},
        {"nothing": 1},
        {"label": 5},
        {"label": {"a": 1}},
        {"skills": [None]},
        {"overrides": {"model": "\x00"}},
        {"idempotencyKey": "a b"},
    ],
    ids=lambda given: str(given)[:40],
)
async def test_values_that_cannot_be_stored(client: Client, given: dict[str, Any]) -> None:
    """INVALID_INPUT, and nothing is written."""
    assert await post(client, json.dumps({"query": documents.CREATE, "variables": {"input": given}})) == (
        200,
        "INVALID_INPUT",
    )


@pytest.mark.parametrize(
    "literal",
    [
        r'label: "\ud800"',
        r'label: "\u0000"',
        r'label: "\u{110000}"',
        "metadata: {a: " + "9" * 500 + "}",
        "metadata: {a: 1e400}",
        "metadata: {a: -" + "9" * 30 + "}",
        "metadata: " + "[" * 100 + "]" * 100,
    ],
    ids=lambda literal: literal[:30],
)
async def test_literals_that_cannot_be_stored(client: Client, literal: str) -> None:
    """The same, where they stand in the document."""
    document = f"mutation {{ createSession(input: {{ {literal} }}) {{ id }} }}"
    assert await post(client, json.dumps({"query": document})) == (200, "INVALID_INPUT")


@pytest.mark.parametrize(
    "number", ["1e400", "-1e400", "9" * 400, "99999999999", "1.5", "-1", "0", "true", '"7"']
)
async def test_numbers_that_cannot_be_meant(client: Client, number: str) -> None:
    """Of pages, places and depths: refused as input or as too much, before anything is asked of the store."""
    for document in (
        "query ($n: Int) { getChildren(first: $n) { id } }",
        "query ($n: Int) { sessions(first: $n) { totalCount } }",
        "query ($n: Int) { digests(first: $n) { eventSeq } }",
        'mutation ($n: Int!) { trimMessages(sessionId: "nobody", keepLast: $n) { id } }',
        'mutation ($n: Int!) { deleteSession(id: "nobody", expectedCount: $n) }',
        "query ($n: Long) { digests(changedAfter: $n) { eventSeq } }",
        "query ($n: JSON) { me { scope } }",
    ):
        body = f'{{"query": {json.dumps(document)}, "variables": {{"n": {number}}}}}'
        status, code = await post(client, body)
        assert status in (200, 400), document
        assert code in ("", "INVALID_INPUT", "LIMIT_EXCEEDED", "NOT_FOUND"), document


async def test_texts_of_a_mebibyte(client: Client, name: str) -> None:
    """1 MiB of UTF-8 is stored whole; one byte more is LIMIT_EXCEEDED. No model's window takes that much."""
    text = "漢字🎉 " * (MIB // 11)
    text += "x" * (MIB - len(text.encode()))
    await client.create(name, systemPrompt=text)
    appended = await client.ask(documents.APPEND, id=name, messages=[{"role": "USER", "content": text}])
    assert appended["appendMessages"][0]["content"] == text
    body = {"query": documents.SEND, "variables": {"input": {"sessionId": name, "content": text + "x"}}}
    assert await post(client, json.dumps(body, ensure_ascii=False)) == (200, "LIMIT_EXCEEDED")
    turn = await client.send(name, text)
    assert turn["messages"][0]["content"] == text
    assert (turn["status"], turn["error"]["code"]) == ("FAILED", "CONTEXT_TOO_LONG")


async def test_random_bodies(client: Client) -> None:
    """Bytes of a legal request, changed at random."""
    chance = random.Random(7)
    legal = json.dumps(
        {
            "query": documents.CREATE,
            "variables": {"input": {"label": "Täg 🎉", "metadata": {"a": [1, 2.5, None]}}},
        }
    ).encode()
    for _ in range(150):
        body = bytearray(legal)
        for _ in range(chance.randint(1, 4)):
            body[chance.randrange(len(body))] = chance.choice(b'{}[]"\\:,0\x00\x7f\xc3\xff$! aE')
        status, code = await post(client, bytes(body))
        assert status in (200, 400), body
        assert code in ("", "INVALID_INPUT", "LIMIT_EXCEEDED"), body


SUBSCRIBE: Final = {"id": "1", "type": "subscribe", "payload": {"query": ME}}


@pytest.mark.covers("SRV-2", "TC23")
@pytest.mark.parametrize(
    ("frames", "code"),
    [
        ([b"\x00\xff"], 4400),
        ([b'{"type": "connection_init"}'], 4400),
        (["garbage"], 4400),
        (["[" * 100_000], 4400),
        (["1"], 4400),
        (["null"], 4400),
        (["[]"], 4400),
        ([{}], 4400),
        ([{"type": 5}], 4400),
        ([{"type": "unknown"}], 4400),
        ([{"type": "connection_init", "payload": 5}], 4400),
        (['{"type": "connection_init", "payload": {"Authorization": "Bearer \\ud800"}}'], 4400),
        ([SUBSCRIBE], 4401),
        ([{"type": "connection_init"}, {"type": "connection_init"}], 4429),
        ([{"type": "connection_init"}, {"type": "subscribe"}], 4400),
        ([{"type": "connection_init"}, {**SUBSCRIBE, "id": 5}], 4400),
        ([{"type": "connection_init"}, {**SUBSCRIBE, "payload": {"query": 5}}], 4400),
        ([{"type": "connection_init"}, {**SUBSCRIBE, "payload": {}}], 4400),
        ([{"type": "connection_init"}, {**SUBSCRIBE, "payload": {"query": ME, "variables": 5}}], 4400),
        (["x" * (2 * MIB + 1)], 1009),
    ],
    ids=lambda value: str(value)[:60],
)
async def test_frames_that_are_no_message(client: Client, frames: list[Any], code: int) -> None:
    """The socket is closed with the code of the protocol."""
    *before, last = [json.dumps(frame) if isinstance(frame, dict) else frame for frame in frames]
    async with client.connection() as connection:
        for frame in before:
            await connection.send(frame)
        # The server may close while this one is still being sent.
        with contextlib.suppress(ConnectionClosed):
            await connection.send(last)
        async with asyncio.timeout(20):
            await connection.wait_closed()
        assert connection.close_code == code


@pytest.mark.covers("SRV-2", "W42")
@pytest.mark.parametrize(
    ("document", "variables"),
    [
        ("{", {}),
        ("{" + "a{" * 20_000 + "b" + "}" * 20_001, {}),
        ("x" * 1_000, {}),
        ("", {}),
        ("{ nothing }", {}),
        ("query ($n: Int!) { getChildren(first: $n) { id } }", {"n": "x" * 1_000}),
        ('subscription { turnEvents(turnId: "a/b") { seq } }', {}),
        ("subscription { turnEvents(turnId: 5, after: 1.5) { seq } }", {}),
    ],
    ids=lambda value: str(value)[:30],
)
async def test_an_operation_that_fails_leaves_the_socket_open(
    client: Client, document: str, variables: dict[str, Any]
) -> None:
    """The error goes to its operation, with a code; the next one is answered."""
    async with client.socket() as socket:
        id = await socket.subscribe(document, variables)
        frame = await socket.hear()
        assert frame["id"] == id
        errors = frame["payload"] if frame["type"] == "error" else frame["payload"]["errors"]
        assert errors[0]["extensions"]["code"] == ("LIMIT_EXCEEDED" if "a{a" in document else "INVALID_INPUT")
        if frame["type"] == "next":
            assert await socket.hear() == {"id": id, "type": "complete"}
        await socket.subscribe(ME, {})
        assert (await socket.hear())["payload"]["data"] == {"me": {"scope": "ADMIN"}}


async def test_an_idle_connection_is_kept(client: Client) -> None:
    """For longer than clients keep theirs: none of them sends a request over one that is being closed."""
    url = httpx.URL(client.url)
    reader, writer = await asyncio.open_connection(url.host, url.port)
    for idle in (6, 0):
        writer.write(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n")
        head = await reader.readuntil(b"\r\n\r\n")
        assert head.startswith(b"HTTP/1.1 200"), head
        await reader.readexactly(int(re.findall(rb"(?i)content-length: (\d+)", head)[0]))
        await asyncio.sleep(idle)
    writer.close()


@pytest.mark.covers("W42", "TC23")
async def test_a_socket_has_so_many_operations_at_once(client: Client, name: str) -> None:
    """The hundred-and-first is LIMIT_EXCEEDED, the others go on. None is compressed."""
    await client.create(name)
    turn = await client.start(name, "tell me " * 200)
    async with client.socket() as socket:
        assert socket.connection.protocol.extensions == []
        ids = [
            await socket.subscribe(documents.EVENTS, {"id": turn["id"], "after": 10**6}) for _ in range(101)
        ]
        refused = await socket.hear()
        assert (refused["id"], refused["type"]) == (ids[-1], "error")
        assert refused["payload"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"
    await client.cancel(turn["id"])
