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
from stello_graph.llm.openai import OpenAILLM
from stello_graph.model.context import Reply, ReplyStop
from stello_graph.model.message import ToolCall
from stello_graph.model.values import Usage
from stello_graph.ports import LLM
from stello_graph.session.call import Backoff, call
from tests.openai_server import Answer, OpenAIServer, Refuse, use
from tests.unit.llm.asking import MODEL, SEARCH, assistant, listen, replied, request, result, system, user

AT_ONCE = Backoff(first=0)


@pytest.fixture
async def llm(openai_server: OpenAIServer) -> AsyncIterator[OpenAILLM]:
    llm = OpenAILLM(openai_server.api_key, base_url=openai_server.url)
    yield llm
    await llm.aclose()


async def test_it_is_a_model() -> None:
    llm: LLM = OpenAILLM("key")

    assert not llm.is_offline
    assert llm.default_model.startswith("gpt-")
    assert llm.window(llm.default_model) == 922_000
    await llm.aclose()


async def test_a_text(llm: OpenAILLM, openai_server: OpenAIServer) -> None:
    """Chunks as they come, then the reply, its usage and its model."""
    openai_server.script(Answer("你好，\u2028world!", chunk=3))

    chunks, reply = await listen(llm, request(system("Be kind."), user("hello")))

    assert chunks == ["你好，", "\u2028wo", "rld", "!"]
    assert (reply.text, reply.parts, reply.tool_calls) == ("你好，\u2028world!", None, ())
    assert (reply.stop, reply.model) == (ReplyStop.END_TURN, MODEL)
    assert reply.usage.input_tokens > 0
    assert reply.usage.output_tokens > 0
    assert reply.usage.llm_calls == 1
    [body] = openai_server.requests
    assert (body["stream"], body["max_tokens"]) == (True, 100)
    assert body["messages"] == [
        {"role": "system", "content": "Be kind."},
        {"role": "user", "content": "hello"},
    ]


async def test_cached_tokens_are_counted_apart(llm: OpenAILLM, openai_server: OpenAIServer) -> None:
    await listen(llm, request(user("hello")))
    openai_server.cached = 7
    _, reply = await listen(llm, request(user("hello")))

    [plain, _] = openai_server.requests
    assert plain["stream_options"] == {"include_usage": True}
    assert reply.usage.cache_read_tokens == 7
    assert reply.usage.input_tokens > 0


async def test_a_server_that_tells_no_usage(llm: OpenAILLM, openai_server: OpenAIServer) -> None:
    openai_server.rules.counts = False

    for _ in range(2):
        _, reply = await listen(llm, request(user("hello")))
        assert reply.usage == Usage(llm_calls=1)

    assert len(openai_server.refused) == 1, "learnt at once, and kept"


async def test_calls(llm: OpenAILLM, openai_server: OpenAIServer) -> None:
    openai_server.script(
        Answer("I look.", [use("search", {"query": "鱼"}), use("search", {}, id="call_2")], chunk=2)
    )

    _, reply = await listen(llm, request(user("find"), tools=(SEARCH,)))

    assert (reply.text, reply.stop) == ("I look.", ReplyStop.TOOL_USE)
    assert reply.tool_calls == (
        ToolCall(id="call_1", name="search", arguments={"query": "鱼"}),
        ToolCall(id="call_2", name="search", arguments={}),
    )


@pytest.mark.covers("W16")
async def test_calls_without_ids_are_given_ids_that_nobody_has(
    llm: OpenAILLM, openai_server: OpenAIServer
) -> None:
    """W16: ids never repeat, neither inside a reply nor over rounds."""
    for _ in range(2):
        openai_server.script(Answer(calls=[use("search", id=None), use("search", id=None)]))
    messages = [user("find")]
    for _ in range(2):
        _, reply = await listen(llm, request(*messages, tools=(SEARCH,)))
        messages += [replied(reply), *[result(call.id, "x") for call in reply.tool_calls]]

    ids = [call.id for message in messages for call in message.tool_calls]
    assert len(set(ids)) == 4
    await listen(llm, request(*messages, tools=(SEARCH,)))
    assert openai_server.refused == []


async def test_calls_that_all_have_one_id(llm: OpenAILLM, openai_server: OpenAIServer) -> None:
    openai_server.script(Answer(calls=[use("search", {"n": 1}), use("search", {"n": 2})]))

    _, reply = await listen(llm, request(user("find"), tools=(SEARCH,)))

    assert [call.arguments for call in reply.tool_calls] == [{"n": 1}, {"n": 2}]
    assert len({call.id for call in reply.tool_calls}) == 2


async def test_calls_without_an_index(llm: OpenAILLM, openai_server: OpenAIServer) -> None:
    calls = [use("search", {"n": 1}), use("search", {"n": 2}, id="call_2")]
    openai_server.script(Answer(calls=calls, indexed=False, chunk=3))

    _, reply = await listen(llm, request(user("find"), tools=(SEARCH,)))

    assert [(one.id, one.arguments) for one in reply.tool_calls] == [
        ("call_1", {"n": 1}),
        ("call_2", {"n": 2}),
    ]


@pytest.mark.parametrize(
    ("finish", "expected"),
    [
        ("stop", ReplyStop.END_TURN),
        ("length", ReplyStop.MAX_TOKENS),
        ("content_filter", ReplyStop.REFUSAL),
        ("tool_calls", ReplyStop.END_TURN),
        ("something_new", ReplyStop.END_TURN),
    ],
)
async def test_finish_reasons(
    llm: OpenAILLM, openai_server: OpenAIServer, finish: str, expected: ReplyStop
) -> None:
    openai_server.script(Answer("text", finish=finish))

    _, reply = await listen(llm, request(user("hi")))

    assert (reply.stop, reply.text) == (expected, "text")


async def test_a_refusal_is_told_and_calls_nothing(llm: OpenAILLM, openai_server: OpenAIServer) -> None:
    openai_server.script(Answer(refusal="I will not.", calls=[use("search")]))

    chunks, reply = await listen(llm, request(user("hi"), tools=(SEARCH,)))

    assert "".join(chunks) == "I will not."
    assert (reply.stop, reply.tool_calls, reply.text) == (ReplyStop.REFUSAL, (), "I will not.")


@pytest.mark.parametrize("cut", [0, 1, 9, 12])
async def test_max_tokens_inside_a_call(llm: OpenAILLM, openai_server: OpenAIServer, cut: int) -> None:
    calls = [use("search", {"query": "a"}), use("search", {"query": "b"}, id="call_2")]
    openai_server.script(Answer("I look.", calls, cut_json=cut))

    _, reply = await listen(llm, request(user("find"), tools=(SEARCH,)))

    assert reply.stop is ReplyStop.MAX_TOKENS
    assert [call.arguments for call in reply.tool_calls] == [{"query": "a"}, {}]


@pytest.mark.covers("LLM-3", "W15")
@pytest.mark.parametrize("arguments", ['{"query": ', "[1]", "null", "nonsense", '{"query": NaN}'])
async def test_a_call_that_cannot_be_read_does_not_run(
    llm: OpenAILLM, openai_server: OpenAIServer, arguments: str
) -> None:
    """W15: neither an exception that loses the reply, nor a call with other arguments."""
    openai_server.script(Answer("I look.", [use("search", arguments)]))

    _, reply = await listen(llm, request(user("find"), tools=(SEARCH,)))

    assert (reply.text, reply.stop) == ("I look.", ReplyStop.MAX_TOKENS)
    assert [call.arguments for call in reply.tool_calls] == [{}]


class TestThoughts:
    async def first_round(self, llm: OpenAILLM, openai_server: OpenAIServer, field: str) -> Reply:
        openai_server.script(
            Answer("I look.", [use("search", {"query": "a"})], thoughts="Let me see …", thoughts_field=field)
        )
        _, reply = await listen(llm, request(user("find"), tools=(SEARCH,)))
        return reply

    @pytest.mark.parametrize("field", ["reasoning_content", "reasoning"])
    async def test_they_are_no_text_and_come_back_in_their_tool_loop(
        self, llm: OpenAILLM, openai_server: OpenAIServer, field: str
    ) -> None:
        reply = await self.first_round(llm, openai_server, field)
        openai_server.rules.wants_thoughts = field
        messages = [user("find"), replied(reply), result("call_1", "found")]

        await listen(llm, request(*messages, tools=(SEARCH,)))

        assert reply.text == "I look."
        assert reply.parts == [
            {"type": "thinking", "thinking": "Let me see …", "field": field},
            {"type": "text", "text": "I look."},
        ]
        assert openai_server.refused == []
        assert openai_server.requests[-1]["messages"][1][field] == "Let me see …"

    async def test_they_are_left_out_in_the_next_turn(
        self, llm: OpenAILLM, openai_server: OpenAIServer
    ) -> None:
        reply = await self.first_round(llm, openai_server, "reasoning")
        messages = [user("a"), replied(reply), result("call_1", "x"), assistant("Here."), user("thanks")]

        await listen(llm, request(*messages, tools=(SEARCH,)))

        assert "reasoning" not in openai_server.requests[-1]["messages"][1]

    async def test_a_server_that_does_not_want_them(
        self, llm: OpenAILLM, openai_server: OpenAIServer
    ) -> None:
        reply = await self.first_round(llm, openai_server, "reasoning")
        openai_server.rules.takes_thoughts = ()
        messages = [user("find"), replied(reply), result("call_1", "found")]

        _, second = await listen(llm, request(*messages, tools=(SEARCH,)))

        assert second.text == "I got tool results."
        assert len(openai_server.refused) == 1


class TestDialects:
    async def test_the_limit_has_two_names(self, llm: OpenAILLM, openai_server: OpenAIServer) -> None:
        """A local server is asked by max_tokens; who knows only the other name gets that, from then on."""
        openai_server.rules.limits = ("max_completion_tokens",)

        for _ in range(2):
            await listen(llm, request(user("hi")))

        assert [body["max_completion_tokens"] for body in openai_server.requests] == [100, 100]
        assert len(openai_server.refused) == 1

    async def test_tools_without_reasoning(self, llm: OpenAILLM, openai_server: OpenAIServer) -> None:
        openai_server.rules.effort_with_tools = "none"

        await listen(llm, request(user("hi"), tools=(SEARCH,)))
        await listen(llm, request(user("hi")))

        assert [body.get("reasoning_effort") for body in openai_server.requests] == ["none", None]

    async def test_all_at_once(self, llm: OpenAILLM, openai_server: OpenAIServer) -> None:
        openai_server.rules.limits = ("max_completion_tokens",)
        openai_server.rules.counts = False
        openai_server.rules.effort_with_tools = "none"

        _, reply = await listen(llm, request(user("hi"), tools=(SEARCH,)))

        assert (reply.text, len(openai_server.refused)) == ("You said: hi", 3)

    async def test_a_server_that_knows_no_limit_at_all(
        self, llm: OpenAILLM, openai_server: OpenAIServer
    ) -> None:
        openai_server.rules.limits = ()

        with pytest.raises(ModelRefused, match="Unsupported parameter"):
            await listen(llm, request(user("hi")))

        assert len(openai_server.refused) == 2


FAILURES: list[tuple[Refuse, type[ModelError], str]] = [
    (Refuse(400, "messages: odd"), ModelRefused, "illegal: messages: odd"),
    (Refuse(400, "too many", code="context_length_exceeded"), ContextTooLong, "too many"),
    (
        Refuse(400, "the request exceeds the available context size.", "exceed_context_size_error"),
        ContextTooLong,
        "longer than the window",
    ),
    (
        Refuse(400, "The decoder prompt (length 9) is longer than the maximum model length of 8."),
        ContextTooLong,
        "longer than the window",
    ),
    (Refuse(401, "invalid sk-test-key"), ModelRefused, "OPENAI_API_KEY"),
    (Refuse(402, "no money"), ModelRefused, "no money"),
    (Refuse(403, "no"), ModelRefused, "permissions"),
    (Refuse(404, "no"), ModelRefused, 'no model "claude-test"'),
    (Refuse(408), ModelUnavailable, "408"),
    (Refuse(413), ContextTooLong, "longer than the window"),
    (Refuse(422, "odd"), ModelRefused, "illegal: odd"),
    (Refuse(422, body='{"detail": [{"msg": "odd"}]}'), ModelRefused, "odd"),
    (Refuse(429), ModelRateLimited, "slow down"),
    (Refuse(429, "no quota", code="insufficient_quota"), ModelRefused, "quota is used up"),
    (Refuse(500), ModelUnavailable, "500"),
    (Refuse(503, body="<html>sk-test-key</html>"), ModelUnavailable, "503"),
    (Refuse(400, body="<html>sk-test-key</html>"), ModelRefused, "illegal"),
    (Refuse(400, body='{"error": "just a text"}'), ModelRefused, "just a text"),
    (Refuse(302, body="", headers={"location": "/"}), ModelRefused, "base URL"),
    (Refuse(400, "your key sk-test-key"), ModelRefused, r"your key \*\*\*"),
]


class TestFailures:
    @pytest.mark.parametrize(("failure", "error", "sentence"), FAILURES)
    async def test_statuses(
        self,
        llm: OpenAILLM,
        openai_server: OpenAIServer,
        failure: Refuse,
        error: type[ModelError],
        sentence: str,
    ) -> None:
        openai_server.script(failure)

        with pytest.raises(error, match=sentence) as raised:
            await listen(llm, request(user("hi")))

        assert type(raised.value) is error
        assert "sk-test-key" not in str(raised.value)
        assert len(openai_server.requests) == 1, "the SDK does not retry"

    async def test_what_the_server_itself_refuses(self, llm: OpenAILLM, openai_server: OpenAIServer) -> None:
        openai_server.rules.window = 50
        with pytest.raises(ContextTooLong, match="maximum context length"):
            await listen(llm, request(user("word " * 200)))
        openai_server.rules.models = {"gpt-other"}
        with pytest.raises(ModelRefused, match='no model "claude-test"'):
            await listen(llm, request(user("hi")))
        openai_server.max_bytes = 10
        with pytest.raises(ContextTooLong):
            await listen(llm, request(user("hi")))

    async def test_a_wrong_key(self, openai_server: OpenAIServer) -> None:
        llm = OpenAILLM("sk-wrong-key", base_url=openai_server.url)
        with pytest.raises(ModelRefused, match="does not accept the key") as raised:
            await listen(llm, request(user("hi")))
        await llm.aclose()

        assert "sk-wrong-key" not in str(raised.value)

    async def test_a_server_that_takes_no_key(self, openai_server: OpenAIServer) -> None:
        openai_server.api_key = None
        llm = OpenAILLM(None, base_url=openai_server.url)

        _, reply = await listen(llm, request(user("hi")))
        await llm.aclose()

        assert reply.text == "You said: hi"

    async def test_retry_after(self, llm: OpenAILLM, openai_server: OpenAIServer) -> None:
        openai_server.script(Refuse(429, headers={"retry-after": "7"}))

        with pytest.raises(ModelRateLimited) as raised:
            await listen(llm, request(user("hi")))

        assert raised.value.details == {"retryAfter": 7.0}

    @pytest.mark.parametrize(
        ("told", "error"),
        [
            ({"message": "overloaded", "type": "server_error"}, ModelUnavailable),
            ({"message": "slow", "code": "rate_limit_exceeded"}, ModelRateLimited),
            ({"message": "slow", "code": 429}, ModelRateLimited),
            ({"message": "bad", "type": "invalid_request_error"}, ModelRefused),
            ({"message": "maximum context length", "code": 400}, ContextTooLong),
            ({"message": "?", "type": "something_new"}, ModelUnavailable),
        ],
    )
    @pytest.mark.parametrize("at", [0, 1, None])
    async def test_inside_the_stream(
        self,
        llm: OpenAILLM,
        openai_server: OpenAIServer,
        told: dict[str, Any],
        error: type[ModelError],
        at: int | None,
    ) -> None:
        openai_server.script(Answer("abcdefgh", chunk=4, error=told, fail_at=at))
        heard: list[str] = []

        with pytest.raises(error):
            await call(llm, request(user("hi")), on_text=heard.append, attempts=1)

        assert heard == {0: [], 1: ["abcd"], None: ["abcd", "efgh"]}[at]

    async def test_a_broken_connection(self, llm: OpenAILLM, openai_server: OpenAIServer) -> None:
        openai_server.script(Answer("abcdefgh", chunk=4, drop=True, fail_at=1))

        with pytest.raises(ModelUnavailable, match="broke off"):
            await listen(llm, request(user("hi")))

    async def test_a_stream_without_a_finish_reason(
        self, llm: OpenAILLM, openai_server: OpenAIServer
    ) -> None:
        openai_server.script(Answer("abcdefgh", ends=False))

        with pytest.raises(ModelUnavailable, match="broke off"):
            await listen(llm, request(user("hi")))

    @pytest.mark.parametrize(
        "raw",
        [
            b"",
            b"data: [DONE]\n\n",
            b"data: {not json\n\n",
            b'data: {"choices": [{"delta": {"tool_calls": [7]}}]}\n\n',
            b'data: {"choices": 7}\n\n',
            b'data: {"choices": [], "usage": 7}\n\n',
            b"data: [1]\n\n",
            b"data: \xff\n\n",
        ],
    )
    async def test_a_stream_of_nonsense(
        self, llm: OpenAILLM, openai_server: OpenAIServer, raw: bytes
    ) -> None:
        openai_server.script(Answer(raw=raw))

        with pytest.raises(ModelUnavailable):
            await listen(llm, request(user("hi")))

    async def test_an_end_without_a_blank_line(self, llm: OpenAILLM, openai_server: OpenAIServer) -> None:
        raw = b'data: {"choices": [{"delta": {"content": "hi"}, "finish_reason": "stop"}]}'
        openai_server.script(Answer(raw=raw))

        _, reply = await listen(llm, request(user("hi")))

        assert reply.text == "hi"

    async def test_nobody_there(self) -> None:
        llm = OpenAILLM("key", base_url="http://user:secret@127.0.0.1:9/v1")
        with pytest.raises(ModelUnavailable, match="cannot be reached") as raised:
            await listen(llm, request(user("hi")))
        await llm.aclose()

        assert "secret" not in str(raised.value)

    async def test_silence(self, openai_server: OpenAIServer) -> None:
        gate = threading.Event()
        openai_server.script(Answer("never", gate=gate))
        llm = OpenAILLM(openai_server.api_key, base_url=openai_server.url, read_timeout=0.05)
        with pytest.raises(ModelUnavailable, match="in time"):
            await listen(llm, request(user("hi")))
        gate.set()
        await llm.aclose()

    @pytest.mark.parametrize("key", ["", "  ", "schlüssel", "a\nb"])
    def test_a_key_that_is_none(self, key: str) -> None:
        with pytest.raises(InvalidInput) as raised:
            OpenAILLM(key)

        assert not key.strip() or key not in str(raised.value)

    def test_without_the_extra(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("importlib.util.find_spec", lambda name: None)

        with pytest.raises(InvalidInput, match=r"pip install 'stello-graph\[openai\]'"):
            OpenAILLM("key")


class TestRetries:
    async def test_before_any_text(self, llm: OpenAILLM, openai_server: OpenAIServer) -> None:
        overloaded = Answer("text", error={"message": "Overloaded"}, fail_at=0)
        openai_server.script(Refuse(503), overloaded, "third time")
        heard: list[str] = []

        reply = await call(llm, request(user("hi")), on_text=heard.append, backoff=AT_ONCE)

        assert (reply.text, "".join(heard), len(openai_server.requests)) == ("third time", "third time", 3)

    async def test_not_after_text(self, llm: OpenAILLM, openai_server: OpenAIServer) -> None:
        openai_server.script(Answer("some text", drop=True), "a second answer")
        heard: list[str] = []

        with pytest.raises(ModelUnavailable):
            await call(llm, request(user("hi")), on_text=heard.append, backoff=AT_ONCE)

        assert ("".join(heard), len(openai_server.requests)) == ("some text", 1)

    async def test_not_what_cannot_get_better(self, llm: OpenAILLM, openai_server: OpenAIServer) -> None:
        openai_server.script(Refuse(400, type="invalid_request_error"), "a second answer")

        with pytest.raises(ModelRefused):
            await call(llm, request(user("hi")), backoff=AT_ONCE)

        assert len(openai_server.requests) == 1


async def test_a_cancelled_call_frees_its_connection(llm: OpenAILLM, openai_server: OpenAIServer) -> None:
    gate = threading.Event()
    openai_server.script(Answer("abcdefgh", chunk=4, gate=gate, gate_at=1), "next")
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
    llm = OpenAILLM("key")

    with pytest.raises(ModelUnavailable, match="cannot be reached"):
        await listen(llm, request(user("hi")))
    await llm.aclose()


async def test_many_at_once_make_one_client(llm: OpenAILLM, openai_server: OpenAIServer) -> None:
    clients = await asyncio.gather(*[llm.connect() for _ in range(5)])
    replies = await asyncio.gather(*[listen(llm, request(user(str(n)))) for n in range(5)])

    assert len(set(map(id, clients))) == 1
    assert sorted(reply.text for _, reply in replies) == [f"You said: {n}" for n in range(5)]
