"""The adapter against the strict server."""

import asyncio
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest

from stello_graph.errors import (
    ContextTooLong,
    InvalidInput,
    ModelError,
    ModelRateLimited,
    ModelRefused,
    ModelUnavailable,
)
from stello_graph.llm.anthropic import AnthropicLLM
from stello_graph.model.context import ContextOrigin, Reply, ReplyStop
from stello_graph.model.message import ToolCall
from stello_graph.ports import LLM
from stello_graph.session.call import Backoff, call
from tests.model_server import Answer, ModelServer, Refuse, redacted, say, think, use
from tests.unit.llm.asking import MODEL, SEARCH, assistant, listen, replied, request, result, system, user

AT_ONCE = Backoff(first=0)
EPHEMERAL = {"type": "ephemeral"}


@pytest.fixture
async def llm(model_server: ModelServer) -> AsyncIterator[AnthropicLLM]:
    llm = AnthropicLLM(model_server.api_key, base_url=model_server.url)
    yield llm
    await llm.aclose()


def marks(body: dict[str, Any]) -> list[str]:
    """The places of the cache marks."""
    places = [f"tools.{i}" for i, tool in enumerate(body.get("tools", [])) if "cache_control" in tool]
    places += [f"system.{i}" for i, block in enumerate(body.get("system", [])) if "cache_control" in block]
    for index, message in enumerate(body["messages"]):
        blocks = enumerate(message["content"])
        places += [f"messages.{index}.{at}" for at, block in blocks if "cache_control" in block]
    return places


async def test_it_is_a_model() -> None:
    llm: LLM = AnthropicLLM("key")

    assert not llm.is_offline
    assert llm.default_model.startswith("claude-")
    assert llm.window(llm.default_model) == 1_000_000
    await llm.aclose()


async def test_a_text(llm: AnthropicLLM, model_server: ModelServer) -> None:
    model_server.script(Answer([say("你好，world!")], chunk=3))

    chunks, reply = await listen(llm, request(system("Be kind."), user("hello")))

    assert chunks == ["你好，", "wor", "ld!"]
    assert (reply.text, reply.parts, reply.tool_calls) == ("你好，world!", None, ())
    assert (reply.stop, reply.model) == (ReplyStop.END_TURN, MODEL)
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0
    assert reply.usage.llm_calls == 1
    [body] = model_server.requests
    assert body["stream"] is True
    assert body["max_tokens"] == 100
    assert body["messages"][0]["content"][0]["text"] == "hello"


async def test_a_call(llm: AnthropicLLM, model_server: ModelServer) -> None:
    model_server.script(
        Answer([say("I look."), use("search", {"query": "鱼"}), use("search", {}, id="toolu_2")])
    )

    _, reply = await listen(llm, request(user("find"), tools=(SEARCH,)))

    assert reply.stop is ReplyStop.TOOL_USE
    assert reply.tool_calls == (
        ToolCall(id="toolu_1", name="search", arguments={"query": "鱼"}),
        ToolCall(id="toolu_2", name="search", arguments={}),
    )
    assert reply.parts is None


@pytest.mark.parametrize(
    ("stop", "expected"),
    [
        ("end_turn", ReplyStop.END_TURN),
        ("stop_sequence", ReplyStop.END_TURN),
        ("max_tokens", ReplyStop.MAX_TOKENS),
        ("pause_turn", ReplyStop.MAX_TOKENS),
        ("model_context_window_exceeded", ReplyStop.MAX_TOKENS),
        ("refusal", ReplyStop.REFUSAL),
        ("tool_use", ReplyStop.END_TURN),
        ("something_new", ReplyStop.END_TURN),
    ],
)
async def test_stop_reasons(
    llm: AnthropicLLM, model_server: ModelServer, stop: str, expected: ReplyStop
) -> None:
    model_server.script(Answer([say("text")], stop=stop))

    _, reply = await listen(llm, request(user("hi")))

    assert (reply.stop, reply.text) == (expected, "text")


async def test_a_window_that_is_full_at_once(llm: AnthropicLLM, model_server: ModelServer) -> None:
    model_server.script(Answer([], stop="model_context_window_exceeded"))

    with pytest.raises(ContextTooLong):
        await listen(llm, request(user("hi")))


async def test_a_refusal_calls_nothing(llm: AnthropicLLM, model_server: ModelServer) -> None:
    model_server.script(Answer([use("search")], stop="refusal"))

    _, reply = await listen(llm, request(user("hi"), tools=(SEARCH,)))

    assert (reply.stop, reply.tool_calls, reply.text) == (ReplyStop.REFUSAL, (), "")


@pytest.mark.parametrize("cut", [0, 1, 9, 12])
async def test_max_tokens_inside_a_call(llm: AnthropicLLM, model_server: ModelServer, cut: int) -> None:
    blocks = [say("I look."), use("search", {"query": "a"}), use("search", {"query": "b"}, id="toolu_2")]
    model_server.script(Answer(blocks, cut_json=cut))

    _, reply = await listen(llm, request(user("find"), tools=(SEARCH,)))

    assert reply.stop is ReplyStop.MAX_TOKENS
    assert [call.arguments for call in reply.tool_calls] == [{"query": "a"}, {}]


class TestThinking:
    BLOCKS = (
        think("Let me see …\n", "sig+/=="),
        redacted("b64+/=="),
        say("I look."),
        use("search", {"query": "a"}),
    )

    async def first_round(self, llm: AnthropicLLM, model_server: ModelServer) -> Reply:
        model_server.script(Answer(list(self.BLOCKS)))
        _, reply = await listen(llm, request(system("s"), user("find"), tools=(SEARCH,)))
        return reply

    async def test_it_is_kept_byte_for_byte(self, llm: AnthropicLLM, model_server: ModelServer) -> None:
        reply = await self.first_round(llm, model_server)

        assert reply.parts == list(self.BLOCKS)
        assert reply.text == "I look."

    async def test_it_comes_back_in_its_tool_loop(self, llm: AnthropicLLM, model_server: ModelServer) -> None:
        reply = await self.first_round(llm, model_server)
        messages = [system("s"), user("find"), replied(reply), result("toolu_1", "found")]

        await listen(llm, request(*messages, tools=(SEARCH,)))

        assert model_server.refused == []
        assert model_server.requests[-1]["messages"][1]["content"] == list(self.BLOCKS)

    async def test_an_alias_is_answered_with_a_dated_name(
        self, llm: AnthropicLLM, model_server: ModelServer
    ) -> None:
        model_server.rules.snapshot = "-20260101"
        reply = await self.first_round(llm, model_server)
        messages = [system("s"), user("find"), replied(reply), result("toolu_1", "found")]

        await listen(llm, request(*messages, tools=(SEARCH,)))

        assert reply.model == f"{MODEL}-20260101"
        assert model_server.requests[-1]["messages"][1]["content"] == list(self.BLOCKS)

    async def test_it_is_left_out_in_the_next_turn(
        self, llm: AnthropicLLM, model_server: ModelServer
    ) -> None:
        reply = await self.first_round(llm, model_server)
        messages = [
            user("find"),
            replied(reply),
            result("toolu_1", "found"),
            assistant("Here."),
            user("thanks"),
        ]

        await listen(llm, request(system("s"), *messages, tools=(SEARCH,)))

        kinds = [block["type"] for block in model_server.requests[-1]["messages"][1]["content"]]
        assert kinds == ["text", "tool_use"]

    async def test_it_is_left_out_for_another_model(
        self, llm: AnthropicLLM, model_server: ModelServer
    ) -> None:
        reply = await self.first_round(llm, model_server)
        messages = [system("s"), user("find"), replied(reply), result("toolu_1", "found")]

        await listen(llm, request(*messages, tools=(SEARCH,), model="claude-other"))

        kinds = [block["type"] for block in model_server.requests[-1]["messages"][1]["content"]]
        assert kinds == ["text", "tool_use"]

    async def test_what_came_before_it_has_changed(
        self, llm: AnthropicLLM, model_server: ModelServer
    ) -> None:
        reply = await self.first_round(llm, model_server)
        messages = [system("renamed"), user("find"), replied(reply), result("toolu_1", "found")]

        chunks, _ = await listen(llm, request(*messages, tools=(SEARCH,)))

        assert chunks
        assert "bound to a different conversation" in model_server.refused[0][1].message
        kinds = [block["type"] for block in model_server.requests[-1]["messages"][1]["content"]]
        assert kinds == ["text", "tool_use"]

    async def test_thinking_without_text(self, llm: AnthropicLLM, model_server: ModelServer) -> None:
        model_server.script(Answer([think("", "sig-omitted"), use("search", {"query": "a"})]))
        _, reply = await listen(llm, request(user("find"), tools=(SEARCH,)))

        await listen(llm, request(user("find"), replied(reply), result("toolu_1", ""), tools=(SEARCH,)))

        assert model_server.refused == []
        assert model_server.requests[-1]["messages"][1]["content"][0] == think("", "sig-omitted")


class TestCaching:
    async def test_marks(self, llm: AnthropicLLM, model_server: ModelServer) -> None:
        slots = [system("prompt"), system("insight", ContextOrigin.INSIGHT)]
        await listen(llm, request(*slots, user("a"), assistant("b"), user("c"), tools=(SEARCH,)))

        [body] = model_server.requests
        assert marks(body) == ["system.0", "system.1", "messages.1.0", "messages.2.0"]
        assert [block["text"] for block in body["system"]] == ["prompt", "\n\ninsight"]
        assert body["system"][0]["cache_control"] == EPHEMERAL

    async def test_rounds_read_what_the_one_before_wrote(
        self, llm: AnthropicLLM, model_server: ModelServer
    ) -> None:
        model_server.script(Answer([think("hm", "s1"), use("search", {"query": "a"})]), "done", "again")
        messages = [system("prompt " * 50), user("a"), assistant("b"), user("c " * 50)]
        _, first = await listen(llm, request(*messages, tools=(SEARCH,)))
        messages += [replied(first), result("toolu_1", "found")]
        _, second = await listen(llm, request(*messages, tools=(SEARCH,)))
        messages += [replied(second), user("d")]
        _, third = await listen(llm, request(*messages, tools=(SEARCH,)))

        wrote = first.usage.cache_write_tokens
        assert wrote > 100
        assert first.usage.cache_read_tokens == 0
        assert second.usage.cache_read_tokens == wrote
        assert third.usage.cache_read_tokens == wrote, "the thinking between is gone, the rest is found"
        assert model_server.refused == []

    async def test_a_lone_message_is_not_written(self, llm: AnthropicLLM, model_server: ModelServer) -> None:
        await listen(llm, request(system("task"), user("对话记录\nuser: hi")))

        assert marks(model_server.requests[0]) == ["system.0"]

    async def test_tools_without_system(self, llm: AnthropicLLM, model_server: ModelServer) -> None:
        await listen(llm, request(user("hi"), tools=(SEARCH,)))

        assert marks(model_server.requests[0]) == ["tools.0"]


FAILURES: list[tuple[Refuse, type[ModelError], str]] = [
    (Refuse(400, "invalid_request_error", "messages: odd"), ModelRefused, "illegal: messages: odd"),
    (
        Refuse(400, "invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
        ContextTooLong,
        "9 tokens",
    ),
    (Refuse(401, "authentication_error", "invalid sk-test-key"), ModelRefused, "ANTHROPIC_API_KEY"),
    (Refuse(402, "billing_error", "no money"), ModelRefused, "no money"),
    (Refuse(403, "permission_error", "no"), ModelRefused, "permissions"),
    (Refuse(404, "not_found_error", "model: x"), ModelRefused, 'no model "claude-test"'),
    (Refuse(408, "timeout_error"), ModelUnavailable, "408"),
    (Refuse(413, "request_too_large", "Request exceeds"), ContextTooLong, "longer than the window"),
    (Refuse(422, "invalid_request_error", "odd"), ModelRefused, "illegal: odd"),
    (Refuse(429, "rate_limit_error"), ModelRateLimited, "slow down"),
    (Refuse(500, "api_error"), ModelUnavailable, "500"),
    (Refuse(503, body="<html>sk-test-key</html>"), ModelUnavailable, "503"),
    (Refuse(400, body="<html>sk-test-key</html>"), ModelRefused, "illegal"),
    (Refuse(529, "overloaded_error"), ModelUnavailable, "529"),
    (Refuse(302, body="", headers={"location": "/"}), ModelRefused, "base URL"),
    (Refuse(400, "invalid_request_error", "your key sk-test-key"), ModelRefused, r"your key \*\*\*"),
]


class TestFailures:
    @pytest.mark.parametrize(("failure", "error", "sentence"), FAILURES)
    async def test_statuses(
        self,
        llm: AnthropicLLM,
        model_server: ModelServer,
        failure: Refuse,
        error: type[ModelError],
        sentence: str,
    ) -> None:
        model_server.script(failure)

        with pytest.raises(error, match=sentence) as raised:
            await listen(llm, request(user("hi")))

        assert type(raised.value) is error
        assert model_server.api_key not in str(raised.value)

    async def test_what_the_server_itself_refuses(self, llm: AnthropicLLM, model_server: ModelServer) -> None:
        model_server.rules.window = 50
        with pytest.raises(ContextTooLong, match="prompt is too long"):
            await listen(llm, request(user("word " * 200)))
        model_server.rules.models = {"claude-other"}
        with pytest.raises(ModelRefused, match='no model "claude-test"'):
            await listen(llm, request(user("hi")))
        model_server.max_bytes = 10
        with pytest.raises(ContextTooLong):
            await listen(llm, request(user("hi")))

    async def test_a_wrong_key(self, model_server: ModelServer) -> None:
        llm = AnthropicLLM("sk-wrong-key", base_url=model_server.url)
        with pytest.raises(ModelRefused, match="does not accept the key") as raised:
            await listen(llm, request(user("hi")))
        await llm.aclose()

        assert "sk-wrong-key" not in str(raised.value)

    @pytest.mark.parametrize(
        ("header", "seconds"), [({"retry-after": "7"}, 7.0), ({"retry-after-ms": "50"}, 0.05)]
    )
    async def test_retry_after(
        self, llm: AnthropicLLM, model_server: ModelServer, header: dict[str, str], seconds: float
    ) -> None:
        model_server.script(Refuse(429, "rate_limit_error", headers=header))

        with pytest.raises(ModelRateLimited) as raised:
            await listen(llm, request(user("hi")))

        assert raised.value.details == {"retryAfter": seconds}

    async def test_the_sdk_does_not_retry(self, llm: AnthropicLLM, model_server: ModelServer) -> None:
        model_server.script(Refuse(500), "not asked for")

        with pytest.raises(ModelUnavailable):
            await listen(llm, request(user("hi")))

        assert len(model_server.requests) == 1

    @pytest.mark.parametrize(
        ("event", "error"),
        [
            (("overloaded_error", "Overloaded"), ModelUnavailable),
            (("api_error", "oops"), ModelUnavailable),
            (("rate_limit_error", "slow"), ModelRateLimited),
            (("invalid_request_error", "bad"), ModelRefused),
            (("something_new", "?"), ModelUnavailable),
        ],
    )
    @pytest.mark.parametrize("at", [0, 1, None])
    async def test_inside_the_stream(
        self,
        llm: AnthropicLLM,
        model_server: ModelServer,
        event: tuple[str, str],
        error: type[ModelError],
        at: int | None,
    ) -> None:
        model_server.script(Answer([say("abcdefgh")], chunk=4, error=event, fail_at=at))
        heard: list[str] = []

        with pytest.raises(error):
            await call(llm, request(user("hi")), on_text=heard.append, attempts=1)

        assert heard == {0: [], 1: ["abcd"], None: ["abcd", "efgh"]}[at]

    async def test_a_broken_connection(self, llm: AnthropicLLM, model_server: ModelServer) -> None:
        model_server.script(Answer([say("abcdefgh")], chunk=4, drop=True, fail_at=1))

        with pytest.raises(ModelUnavailable, match="broke off"):
            await listen(llm, request(user("hi")))

    @pytest.mark.parametrize(
        "events",
        [
            [],
            [("message_start", {"type": "message_start", "message": {"model": "m", "usage": {}}})],
            [("content_block_delta", {"type": "content_block_delta"})],
            [("content_block_delta", "{not json")],
            [("message_start", {"type": "message_start"})],
        ],
    )
    async def test_a_stream_of_nonsense(
        self, llm: AnthropicLLM, model_server: ModelServer, events: Any
    ) -> None:
        model_server.script(Answer(events=events))

        with pytest.raises(ModelUnavailable):
            await listen(llm, request(user("hi")))

    async def test_nobody_there(self) -> None:
        llm = AnthropicLLM("key", base_url="http://user:secret@127.0.0.1:9")
        with pytest.raises(ModelUnavailable, match="cannot be reached") as raised:
            await listen(llm, request(user("hi")))
        await llm.aclose()

        assert "secret" not in str(raised.value)

    async def test_silence(self, model_server: ModelServer) -> None:
        gate = threading.Event()
        model_server.script(Answer([say("never")], gate=gate))
        llm = AnthropicLLM(model_server.api_key, base_url=model_server.url, read_timeout=0.05)
        with pytest.raises(ModelUnavailable, match="in time"):
            await listen(llm, request(user("hi")))
        gate.set()
        await llm.aclose()

    @pytest.mark.parametrize("key", ["", "  ", "schlüssel", "a\nb"])
    def test_a_key_that_is_none(self, key: str) -> None:
        with pytest.raises(InvalidInput) as raised:
            AnthropicLLM(key)

        assert not key.strip() or key not in str(raised.value)


class TestRetries:
    async def test_before_any_text(self, llm: AnthropicLLM, model_server: ModelServer) -> None:
        overloaded = Answer([say("text")], error=("overloaded_error", "Overloaded"), fail_at=0)
        model_server.script(Refuse(529, "overloaded_error"), overloaded, "third time")
        heard: list[str] = []

        reply = await call(llm, request(user("hi")), on_text=heard.append, backoff=AT_ONCE)

        assert (reply.text, "".join(heard), len(model_server.requests)) == ("third time", "third time", 3)

    async def test_not_after_text(self, llm: AnthropicLLM, model_server: ModelServer) -> None:
        model_server.script(Answer([say("some text")], drop=True), "a second answer")
        heard: list[str] = []

        with pytest.raises(ModelUnavailable):
            await call(llm, request(user("hi")), on_text=heard.append, backoff=AT_ONCE)

        assert ("".join(heard), len(model_server.requests)) == ("some text", 1)

    async def test_not_what_cannot_get_better(self, llm: AnthropicLLM, model_server: ModelServer) -> None:
        model_server.script(Refuse(400, "invalid_request_error"), "a second answer")

        with pytest.raises(ModelRefused):
            await call(llm, request(user("hi")), backoff=AT_ONCE)

        assert len(model_server.requests) == 1


async def test_a_cancelled_call_frees_its_connection(llm: AnthropicLLM, model_server: ModelServer) -> None:
    gate = threading.Event()
    model_server.script(Answer([say("abcdefgh")], chunk=4, gate=gate, gate_at=1), "next")
    heard: asyncio.Queue[str] = asyncio.Queue()
    task = asyncio.create_task(call(llm, request(user("hi")), on_text=heard.put_nowait))
    first = await heard.get()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    gate.set()

    _, reply = await listen(llm, request(user("hi")))

    assert (first, heard.empty(), reply.text) == ("abcd", True, "next")


async def test_live_calls_are_forbidden() -> None:
    llm = AnthropicLLM("key")

    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await listen(llm, request(user("hi")))
    await llm.aclose()


async def test_many_at_once_make_one_client(llm: AnthropicLLM, model_server: ModelServer) -> None:
    clients = await asyncio.gather(*[llm.connect() for _ in range(5)])
    replies = await asyncio.gather(*[listen(llm, request(user(str(n)))) for n in range(5)])

    assert len(set(map(id, clients))) == 1
    assert sorted(reply.text for _, reply in replies) == [f"You said: {n}" for n in range(5)]
