"""Requests that are too many are refused before anything is asked of the store."""

from tests.unit.http.calls import post
from tests.unit.http.conftest import KEY, OpenApp

LIST = "{ sessions { totalCount } }"
AUTHORIZED = {"authorization": f"Bearer {KEY}"}


async def test_too_many_requests(open_app: OpenApp) -> None:
    """429 with Retry-After and LIMIT_EXCEEDED, retryable; a foreign key is 401 and counts nothing."""
    app = await open_app(bootstrap_key=KEY, rate_limit=1)
    for _ in range(3):
        async with post(app.asgi, LIST, {"authorization": "Bearer no"}) as answer:
            await answer.until(b"}")
        assert answer.status == 401
    async with post(app.asgi, LIST, AUTHORIZED) as answer:
        await answer.until(b"totalCount")
    statuses = set()
    for _ in range(20):
        app.forget()
        async with post(app.asgi, LIST, AUTHORIZED) as answer:
            await answer.until(b"}")
        statuses.add(answer.status)
        if answer.status == 429:
            assert app.ran == []
            assert answer.headers["retry-after"] == "1"
            extensions = answer.json["errors"][0]["extensions"]
            assert (extensions["code"], extensions["retryable"]) == ("LIMIT_EXCEEDED", True)
    assert 429 in statuses


async def test_without_keys_nothing_is_counted(open_app: OpenApp) -> None:
    """This machine asks as often as it likes."""
    app = await open_app(rate_limit=1)
    for _ in range(5):
        async with post(app.asgi, LIST) as answer:
            await answer.until(b"totalCount")
        assert answer.status == 200


async def test_what_is_refused_over_http_costs_no_statement(open_app: OpenApp) -> None:
    """Depth, cost, body, content and pages: the settings decide, and no statement runs."""
    app = await open_app(
        max_query_depth=2,
        max_query_aliases=1,
        max_query_tokens=60,
        max_query_cost=40,
        max_page=30,
        max_body_bytes=2_000,
        max_content_bytes=100,
    )
    refused = [
        ('{ topologyNode(id: "a") { parent { parent { id } } } }', 200),
        ('{ a: topologyNode(id: "a") { id } b: me { scope } }', 200),
        ("{ " + "__typename " * 60 + "}", 200),
        ("{ getChildren(first: 30) { children(first: 1) { id } } }", 200),
        ("{ sessions(first: 31) { totalCount } }", 200),
        ('{ contextPreview(sessionId: "a", content: "' + "x" * 101 + '") { estimatedTokens } }', 200),
        ('mutation { putMemory(sessionId: "a", content: "' + "x" * 101 + '") { id } }', 200),
        ('mutation { startTurn(input: {sessionId: "a", content: "' + "x" * 101 + '"}) { id } }', 200),
        ('mutation { putInsight(sessionId: "a", content: "' + "x" * 101 + '") { id } }', 200),
        ("#" * 2_000, 413),
    ]
    for document, status in refused:
        app.forget()
        async with post(app.asgi, document) as answer:
            await answer.until(b"}")
        assert (answer.status, answer.json["errors"][0]["extensions"]["code"]) == (
            status,
            "LIMIT_EXCEEDED",
        ), document
        assert app.ran == [], document
