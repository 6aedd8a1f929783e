"""Bodies, encodings, headers and methods that are no request."""

import gzip
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.test_schema import some
from tests.fuzz.values import HOSTILE, NUMBERS, TEXTS, body_of
from tests.fuzz.world import JSON, World

ME = "{ me { scope } }"
LEGAL = {
    "query": "query A($n: Int) { getChildren(first: $n) { id } }",
    "variables": {"n": 2},
    "operationName": "A",
}
TEXT = json.dumps(LEGAL)
TYPES = st.sampled_from(
    [
        b"application/json",
        b"application/json; charset=utf-16",
        b"APPLICATION/JSON;x",
        b"application/graphql-response+json",
        b"application/graphql",
        b"application/x-www-form-urlencoded",
        b"multipart/form-data; boundary=x",
        b"text/plain",
        b"\xff\x00",
        b"",
    ]
)
ACCEPTS = st.sampled_from(
    [
        b"*/*",
        b"",
        b"application/graphql-response+json",
        b"text/event-stream",
        b"multipart/mixed",
        b"multipart/mixed;boundary=graphql;subscriptionSpec=1.0,application/json",
        b"text/html",
        b"a/b;q=nan",
        b"\xff," * 500,
    ]
)


def encoded(text: str) -> st.SearchStrategy[bytes]:
    """A text as no client should send it, and as one may."""
    plain = text.encode()
    return st.sampled_from(
        [
            plain,
            text.encode("utf-16"),
            text.encode("utf-16-le"),
            text.encode("utf-32"),
            b"\xef\xbb\xbf" + plain,
            gzip.compress(plain),
            plain + b"\x00",
            plain * 2,
            plain[:-1],
            plain.replace(b"A", b"\xff"),
            b"",
            b"\x00" * 50,
        ]
    )


@some(120)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "query": st.sampled_from([ME, LEGAL["query"]]) | HOSTILE,
            "variables": st.just({"n": 1})
            | st.dictionaries(st.sampled_from(["n", "", "$n"]), HOSTILE)
            | HOSTILE,
            "operationName": st.just("A") | HOSTILE,
            "extensions": HOSTILE,
            "id": HOSTILE,
        },
    )
)
def test_requests_of_wrong_things(world: World, body: dict[str, Any]) -> None:
    """Each part of a request is anything."""
    world.check(world.runner.run(world.call(body_of(body))))


@some(60)
@given(
    HOSTILE
    | st.lists(st.just(LEGAL) | HOSTILE, max_size=3)
    | st.sampled_from(NUMBERS)
    | st.sampled_from(TEXTS)
)
def test_bodies_that_are_no_object(world: World, body: Any) -> None:
    """Lists, which would be batches, texts, numbers and nothing."""
    asked = world.runner.run(world.call(body_of(body)))
    world.check(asked)
    if not isinstance(body, dict):
        assert asked.status in (400, 413)


@some(120)
@given(
    st.sampled_from(["POST", "POST", "POST", "GET", "PUT", "DELETE", "OPTIONS", "HEAD", "TRACE", "X"]),
    encoded(TEXT),
    TYPES,
    ACCEPTS,
    st.sampled_from([b"", b"gzip", b"br", b"identity", b"\xff"]),
    st.sampled_from([b"", b"query=%7Bme%7Bscope%7D%7D", b"query=%ff", b"=&&&", b"x" * 9_000]),
)
def test_requests_of_every_form(
    world: World, method: str, body: bytes, kind: bytes, accept: bytes, encoding: bytes, query: bytes
) -> None:
    """Methods, encodings, types and query strings: JSON with a code, or the page for browsers."""
    headers = (
        (b"host", b"localhost"),
        (b"content-type", kind),
        (b"accept", accept),
        (b"content-encoding", encoding),
        (b"content-length", b"5"),
    )
    answer = world.runner.run(world.call(body, headers, method=method, query=query))
    if method == "GET" and b"text/html" in accept:
        assert (answer.status, answer.headers["content-type"]) == (200, "text/html; charset=utf-8")
    else:
        world.check(answer)


@some(80)
@given(
    st.lists(st.tuples(st.integers(0, len(TEXT) - 1), st.binary(max_size=3)), min_size=1, max_size=4),
    st.booleans(),
)
def test_bytes_that_were_changed(world: World, changes: list[tuple[int, bytes]], in_parts: bool) -> None:
    """Of a legal request some bytes are others; it may come byte by byte."""
    body = bytearray(TEXT.encode())
    for place, changed in changes:
        body[place : place + 1] = changed
    chunks = [bytes([byte]) for byte in body] if in_parts else bytes(body)
    world.check(world.runner.run(world.call(chunks)))


def test_documents_that_are_no_graphql(world: World) -> None:
    """Texts of all kinds, nested and repeated."""
    documents = [
        *TEXTS,
        "{" * 900,
        "{ a" * 400,
        '{ a(b: """',
        "query ($a: [[[Int!]!]!]!) { me { scope } }",
        "query ($a: Nothing) { me { scope } }",
        "query ($a: Int = 1e400, $a: Int) { me { scope } }",
        "{ me { scope } } " * 300,
        "fragment A on Query { me { scope } }",
        "{ ...A } fragment A on Query { ...A }",
        "{ __schema { types { fields { type { fields { type { fields { name } } } } } } } }",
        '{ __type(name: "\\u0000") { name } }',
        "{ me @include(if: true) @include(if: false) { scope } }",
        "{ me @defer(label: 5) { scope } ... @defer { space { id } } }",
        "{ getChildren @stream(initialCount: -1) { id } }",
        "subscription { turnEvents(turnId: 1) { seq } topologyEvents { seq } }",
        "subscription { __typename }",
        "schema { query: Query }",
        "type Query { a: Int }",
        "extend type Query { a: Int }",
        "{ session(id: $id) { id } }",
        "{ session(id: {}) { id } }",
        "{ session(id: [[[]]]) { id } }",
        "{ topologyNodes(ids: [" + '"s0", ' * 600 + "]) { id } }",
    ]
    for document in documents:
        for accept in (b"*/*", b"text/event-stream"):
            headers = (*JSON, (b"accept", accept))
            world.check(world.runner.run(world.call(body_of({"query": document}), headers)))
