"""Server-sent events: each operation a POST of its own, streamed as it happens."""

import asyncio
import gc

import pytest

from stello_graph.forest.live import LiveTurn
from stello_graph.http.event_stream import prefers_stream
from stello_graph.llm.scripted import Pause, ScriptedLLM
from stello_graph.model.requests import CreateSession, Send
from tests.e2e.waiting import until
from tests.unit.http.calls import post
from tests.unit.http.conftest import KEY, App, OpenApp

STREAM = {"accept": "text/event-stream"}
FOLLOW = "subscription ($id: ID!) { turnEvents(turnId: $id) { __typename seq ... on TextDelta { text } } }"


async def begun(app: App) -> str:
    """The id of a turn that has begun."""
    space = app.graph.space()
    await space.create_session(CreateSession(id="s"))
    return (await space.start_turn(Send(session_id="s", content="hi"))).id


async def test_a_turn_is_followed_while_it_runs(open_app: OpenApp) -> None:
    """Each event is sent at once, by `next`, and the end by `complete`; nothing may hold or keep them."""
    pause = Pause()
    app = await open_app(ScriptedLLM([["one ", pause, "two"]]))
    turn = await begun(app)
    async with post(app.asgi, FOLLOW, {**STREAM, "accept-encoding": "gzip"}, id=turn) as answer:
        await answer.until(b"one ")
        await pause.reached.wait()
        assert not answer.done
        assert answer.status == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert answer.headers["cache-control"].startswith("no-cache")
        assert answer.headers["x-accel-buffering"] == "no"
        assert "content-encoding" not in answer.headers
        pause.over.set()
        await answer.until(b"event: complete")
    kinds = [kind for kind, _ in answer.events]
    assert kinds == ["next"] * (len(kinds) - 1) + ["complete"]
    told = [data["data"]["turnEvents"] for kind, data in answer.events if kind == "next"]
    assert told[0]["__typename"] == "TurnStarted"
    assert told[-1]["__typename"] == "TurnEnded"
    assert "".join(event.get("text", "") for event in told) == "one two"


async def test_silence_is_filled_with_comments(open_app: OpenApp) -> None:
    """The first bytes come at once, and a comment after each time of silence, which is no event."""
    pause = Pause()
    app = await open_app(ScriptedLLM([[pause, "x"]]), keepalive_seconds=0.05)
    turn = await begun(app)
    async with post(app.asgi, FOLLOW, STREAM, id=turn) as answer:
        await until(lambda: answer.body.count(b": ping\n\n") >= 4, "four comments")
        assert answer.body.startswith(b": ping\n\n")
        assert all(kind == "next" for kind, _ in answer.events)
        pause.over.set()
        await answer.until(b"event: complete")


async def test_queries_and_mutations_are_streams_of_one(open_app: OpenApp) -> None:
    """One `next`, then `complete`."""
    app = await open_app()
    async with post(app.asgi, "{ me { scope } }", STREAM) as answer:
        await answer.until(b"event: complete")
    assert answer.events == [("next", {"data": {"me": {"scope": "ADMIN"}}}), ("complete", None)]


@pytest.mark.parametrize(
    ("document", "code"),
    [
        ("{", "INVALID_INPUT"),
        ("{ nothing }", "INVALID_INPUT"),
        ("#" + "\n#" * 2_000, "LIMIT_EXCEEDED"),
        ("{" + "a{" * 600 + "b" + "}" * 601, "LIMIT_EXCEEDED"),
        ("{ getChildren { children { children { id } } } }", "LIMIT_EXCEEDED"),
        ('subscription { turnEvents(turnId: "nobody") { seq } }', "NOT_FOUND"),
        ('subscription { turnEvents(turnId: "a/b") { seq } }', "INVALID_INPUT"),
        ("subscription { turnEvents(turnId: 5, after: 1.5) { seq } }", "INVALID_INPUT"),
    ],
    ids=lambda value: value[:40],
)
async def test_errors_are_in_the_stream(open_app: OpenApp, document: str, code: str) -> None:
    """With their codes, and the stream is complete after them."""
    app = await open_app()
    app.forget()
    async with post(app.asgi, document, STREAM) as answer:
        await answer.until(b"event: complete")
    (kind, result), _ = answer.events
    assert (kind, result["errors"][0]["extensions"]["code"]) == ("next", code)
    assert app.ran == (["turns/get"] if code == "NOT_FOUND" else [])


async def test_a_subscription_without_a_stream(open_app: OpenApp, caplog: pytest.LogCaptureFixture) -> None:
    """A plain POST has one answer: it is refused with how to ask, and that is nothing to log."""
    app = await open_app()
    app.forget()
    async with post(app.asgi, 'subscription { turnEvents(turnId: "nobody") { seq } }') as answer:
        await answer.until(b"}")
    assert answer.status == 400
    assert b"text/event-stream" in answer.body
    assert b"INVALID_INPUT" in answer.body
    assert app.ran == []
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []


async def test_who_may_not_ask_gets_no_stream(open_app: OpenApp) -> None:
    """401 and 429 are plain answers."""
    app = await open_app(bootstrap_key=KEY, rate_limit=1)
    async with post(app.asgi, "{ me { scope } }", STREAM) as answer:
        await answer.until(b"}")
    assert (answer.status, answer.headers["content-type"]) == (401, "application/json")
    for _ in range(20):
        async with post(app.asgi, "{ me { scope } }", {**STREAM, "authorization": f"Bearer {KEY}"}) as answer:
            await answer.until(b"}")
        if answer.status == 429:
            break
    assert answer.json["errors"][0]["extensions"]["code"] == "LIMIT_EXCEEDED"


async def test_a_client_that_goes_away_ends_its_subscription(open_app: OpenApp) -> None:
    """Tasks and generators of a hundred streams go with their clients; the turn goes on."""
    pause = Pause()
    app = await open_app(ScriptedLLM([["one ", pause, "two"]]))
    turn = await begun(app)
    await pause.reached.wait()
    before = len(asyncio.all_tasks())
    for _ in range(100):
        async with post(app.asgi, FOLLOW, STREAM, id=turn) as answer:
            await answer.until(b"one ")

    def followers() -> int:
        gc.collect()
        running = (found for found in gc.get_objects() if type(found).__name__ == "async_generator")
        return sum(agen.ag_code is LiveTurn.follow.__code__ for agen in running)

    await until(lambda: len(asyncio.all_tasks()) <= before, "tasks end")
    await until(lambda: followers() == 0, "generators are closed")
    pause.over.set()
    ended = await app.graph.turns.ended(
        app.graph.space().store, (await app.graph.space().store.turns([turn]))[turn]
    )
    assert ended.status == "COMPLETED"


async def test_a_server_that_stops_ends_its_streams(open_app: OpenApp) -> None:
    """A stream that has no end of its own is ended as any answer is."""
    app = await open_app()
    async with post(app.asgi, "subscription { topologyEvents { seq } }", STREAM) as answer:
        await answer.until(b"ping")
        assert not answer.done
        app.graph.stopping.set()
        await until(lambda: answer.done, "the stream ends")


@pytest.mark.parametrize(
    ("accept", "streams"),
    [
        ("text/event-stream", True),
        ("Text/Event-Stream; charset=utf-8", True),
        ("text/event-stream, multipart/mixed", True),
        ("text/event-stream, application/json", True),
        ("text/event-stream, */*;q=0.1", True),
        ("application/json;q=0.5, text/event-stream", True),
        ("application/json, text/event-stream", False),
        ("application/graphql-response+json, application/json, text/event-stream, multipart/mixed", False),
        ("text/event-stream;q=0.5, application/json;q=0.9", False),
        ("text/event-stream;q=0, */*", False),
        ("x-text/event-stream", False),
        ("text/event-streams", False),
        ("*/*", False),
        ("", False),
    ],
)
def test_json_goes_before_a_stream_where_it_is_asked_for_rather(accept: str, streams: bool) -> None:
    """Clients that name all that they can read get streams of what has no other form only."""
    assert prefers_stream(accept) is streams


async def test_urql_s_query_is_answered_in_json(open_app: OpenApp) -> None:
    accept = (
        "application/graphql-response+json, application/graphql+json, application/json, text/event-stream"
    )
    app = await open_app()
    async with post(app.asgi, "{ me { scope } }", {"accept": accept}) as answer:
        await answer.until(b"ADMIN")
    assert answer.headers["content-type"] == "application/json"
