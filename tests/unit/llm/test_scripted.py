import asyncio

import pytest

from stello_graph.errors import ModelRefused, ModelUnavailable
from stello_graph.llm.scripted import Pause, ScriptedLLM, tool_use
from stello_graph.model.context import ModelRequest, Reply, ReplyStop, TextChunk
from stello_graph.model.message import ToolCall
from stello_graph.model.values import Usage
from stello_graph.ports import LLM
from tests.unit.llm.asking import listen, request, user

ASK = request(user("hi"))


async def test_it_is_a_model() -> None:
    llm: LLM = ScriptedLLM(window=1000)

    assert not llm.is_offline
    assert llm.default_model == "scripted"
    assert llm.window("any") == 1000
    await llm.aclose()


async def test_a_text() -> None:
    llm = ScriptedLLM(["hello"], usage=Usage(input_tokens=3, llm_calls=1))

    chunks, reply = await listen(llm, ASK)

    assert chunks == ["hello"]
    assert reply == Reply(
        text="hello",
        stop=ReplyStop.END_TURN,
        model="claude-test",
        usage=Usage(input_tokens=3, llm_calls=1),
    )
    assert llm.requests == [ASK]


async def test_a_reply_in_chunks() -> None:
    whole = Reply(
        text="hello",
        stop=ReplyStop.MAX_TOKENS,
        model="m",
        usage=Usage(output_tokens=9, llm_calls=1),
        parts=[{}],
    )

    chunks, reply = await listen(ScriptedLLM([whole], chunk_size=2), ASK)

    assert (chunks, reply) == (["he", "ll", "o"], whole)


async def test_a_call() -> None:
    _, reply = await listen(ScriptedLLM([tool_use("search", {"q": 1}, text="I look.")]), ASK)

    assert reply.tool_calls == (ToolCall(id="call_1", name="search", arguments={"q": 1}),)
    assert (reply.text, reply.stop) == ("I look.", ReplyStop.TOOL_USE)


async def test_an_error() -> None:
    with pytest.raises(ModelUnavailable):
        await listen(ScriptedLLM([ModelUnavailable("away")]), ASK)


async def test_an_error_after_some_text() -> None:
    stream = ScriptedLLM([["a", "b", ModelUnavailable("broke off")]]).stream(ASK)

    assert [await anext(stream), await anext(stream)] == [TextChunk(text="a"), TextChunk(text="b")]
    with pytest.raises(ModelUnavailable):
        await anext(stream)


async def test_points_where_it_waits() -> None:
    pause, event = Pause(), asyncio.Event()
    task = asyncio.create_task(listen(ScriptedLLM([["a", pause, "b", event, "c"]]), ASK))
    await pause.reached.wait()
    assert not task.done()
    pause.over.set()
    await asyncio.sleep(0)
    assert not task.done()
    event.set()

    assert (await task)[0] == ["a", "b", "c"]


async def test_functions_of_the_request() -> None:
    async def later(request: ModelRequest) -> str:
        return f"{len(request.messages)} messages"

    llm = ScriptedLLM([lambda request: request.messages[-1].content, later, lambda _: later])

    assert [(await listen(llm, ASK))[1].text for _ in range(3)] == ["hi", "1 messages", "1 messages"]


async def test_a_reply_at_the_end_of_a_sequence() -> None:
    _, reply = await listen(ScriptedLLM([["I ", "look.", tool_use("search")]]), ASK)

    assert (reply.text, reply.stop) == ("I look.", ReplyStop.TOOL_USE)


async def test_the_end_of_the_script() -> None:
    llm = ScriptedLLM(["one"])
    await listen(llm, ASK)

    with pytest.raises(ModelRefused, match="the script is over: nothing answers request 2"):
        await listen(llm, ASK)


async def test_a_default() -> None:
    llm = ScriptedLLM(["one"], default="always")
    texts = [(await listen(llm, ASK))[1].text for _ in range(3)]

    assert texts == ["one", "always", "always"]


async def test_an_empty_text() -> None:
    chunks, reply = await listen(ScriptedLLM([""]), ASK)

    assert (chunks, reply.text) == ([], "")
