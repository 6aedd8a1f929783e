"""Requests that are too many are refused before anything is asked of the store."""

from tests.e2e.waiting import until
from tests.unit.http.calls import post
from tests.unit.http.conftest import KEY, OpenApp
from tests.unit.http.sockets import socket

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


async def test_too_many_operations_of_a_socket(open_app: OpenApp) -> None:
    """Each counts as a request; what is too much is an error of the operation, which costs no statement."""
    app = await open_app(bootstrap_key=KEY, rate_limit=1)
    async with socket(app.asgi, AUTHORIZED) as client:
        app.forget()
        ids = [str(number) for number in range(20)]
        for id in ids:
            client.subscribe(id, LIST)
        for id in ids:
            await client.over(id)
        assert client.closed is None
    refused = [told["payload"][0]["extensions"] for told in client.told if told["type"] == "error"]
    answered = [told for told in client.told if told["type"] == "next"]
    assert refused
    assert all(error == {"code": "LIMIT_EXCEEDED", "retryable": True} for error in refused)
    assert len(refused) + len(answered) == 20
    assert app.ran.count("sessions/count") == len(answered)


FOLLOW = "subscription { topologyEvents(after: 0) { seq } }"
STREAM = {"accept": "text/event-stream"}


async def test_subscriptions_of_a_space(open_app: OpenApp) -> None:
    """Of all sockets and streams together; one more costs no statement, and who goes away leaves room."""
    app = await open_app(max_space_subscriptions=2)
    async with socket(app.asgi) as one, socket(app.asgi) as two:
        one.subscribe("1", FOLLOW)
        await until(lambda: app.graph.subscriptions._taken["default"] == 1, "the first is open")
        async with post(app.asgi, FOLLOW, STREAM):
            await until(lambda: app.graph.subscriptions._taken["default"] == 2, "the second is open")
            app.forget()
            two.subscribe("1", FOLLOW)
            error = (await two.until("next", "1"))["payload"]["errors"][0]["extensions"]
            assert error == {"code": "LIMIT_EXCEEDED", "retryable": True}
            async with post(app.asgi, FOLLOW, STREAM) as answer:
                await answer.until(b"event: complete")
            assert b"LIMIT_EXCEEDED" in answer.body
            assert not [name for name in app.ran if name != "events/newest"]
        two.subscribe("2", FOLLOW)
        await until(lambda: app.graph.subscriptions._taken["default"] == 2, "there is room for another")
        one.send({"type": "complete", "id": "1"})
        await until(lambda: app.graph.subscriptions._taken["default"] == 1, "what is complete leaves room")
    await until(lambda: not app.graph.subscriptions._taken, "all have gone")


async def test_sockets_of_a_space(open_app: OpenApp) -> None:
    """The third of two is closed with 1013; one that has gone leaves room."""
    app = await open_app(max_space_subscriptions=2)
    async with socket(app.asgi):
        async with socket(app.asgi), socket(app.asgi, None) as third:
            third.send({"type": "connection_init"})
            await until(lambda: third.closed is not None, "the third is closed")
            assert third.closed is not None
            assert third.closed[0] == 1013
            assert "2 WebSockets" in third.closed[1]
        async with socket(app.asgi) as another:
            another.subscribe("1", LIST)
            await another.until("next", "1")
    assert not app.graph.sockets._taken


async def test_subscriptions_of_a_socket(open_app: OpenApp) -> None:
    """The third of two is refused before any statement; where one is over there is room again."""
    app = await open_app(max_subscriptions=2)
    async with socket(app.asgi) as client:
        for id in ("1", "2"):
            client.subscribe(id, "subscription { topologyEvents(after: 0) { seq } }")
        client.subscribe("3", LIST)
        refused = (await client.until("error", "3"))["payload"][0]["extensions"]
        assert refused["code"] == "LIMIT_EXCEEDED"
        assert not [name for name in app.ran if name.startswith("sessions/")]
        client.send({"type": "complete", "id": "1"})
        client.subscribe("4", LIST)
        assert (await client.until("next", "4"))["payload"]["data"] == {"sessions": {"totalCount": 0}}
