"""Turns with a model behind the Chat Completions API, through `stello-graph serve`."""

from tests.e2e.conftest import OpenStore, Serve
from tests.engines import SQLITE
from tests.openai_server import Answer, OpenAIServer, Refuse, use


async def test_turns_with_a_local_server(
    serve: Serve, open_store: OpenStore, openai_server: OpenAIServer, name: str
) -> None:
    """No key, a named model: the turn is streamed and stored, the next request carries the transcript."""
    openai_server.api_key = None
    openai_server.script(Answer("你好，world!", thoughts="They greet me.", chunk=3))
    settings = {
        "STELLO_MODEL_PROVIDER": "openai",
        "STELLO_MODEL": "qwen3",
        "OPENAI_BASE_URL": openai_server.url,
    }
    server = serve(open_store(SQLITE), settings=settings)
    async with server.client() as client:
        await client.create(name)
        turn = await client.start(name, "Hello")
        events = await client.events(turn["id"])
        assert "".join(e["text"] for e in events if e["__typename"] == "TextDelta") == "你好，world!"
        assert events[-1]["turn"]["status"] == "COMPLETED"

        openai_server.script(Refuse(503), "Second.")
        second = await client.send(name, "And now?")
        assert (second["status"], second["reply"]["content"]) == ("COMPLETED", "Second.")

        openai_server.script(Refuse(400, "too long", code="context_length_exceeded"))
        third = await client.send(name, "And then?")
        assert (third["status"], third["error"]["code"]) == ("FAILED", "CONTEXT_TOO_LONG")

    assert openai_server.refused == []
    asked = openai_server.requests[1]
    assert asked["model"] == "qwen3"
    assert [(one["role"], one["content"]) for one in asked["messages"] if one["role"] != "system"] == [
        ("user", "Hello"),
        ("assistant", "你好，world!"),
        ("user", "And now?"),
    ]


async def test_a_tool_loop_with_a_local_server(
    serve: Serve, open_store: OpenStore, openai_server: OpenAIServer, name: str
) -> None:
    """Calls without ids, thoughts that must come back, and nothing that the server refuses for good."""
    openai_server.rules.limits = ("max_completion_tokens",)
    openai_server.rules.effort_with_tools = "none"
    openai_server.rules.wants_thoughts = "reasoning_content"
    calls = [use("stello_create_session", {"label": label}, id=None) for label in ("One", "Two")]
    settings = {
        "STELLO_MODEL_PROVIDER": "openai",
        "OPENAI_API_KEY": str(openai_server.api_key),
        "OPENAI_BASE_URL": openai_server.url,
    }
    server = serve(open_store(SQLITE), settings=settings)
    async with server.client() as client:
        await client.create(name)
        for _ in range(3):
            await client.send(name, "Hello")
        openai_server.script(Answer("I fork.", calls, thoughts="Two of them."), "Done.")
        turn = await client.send(name, "Fork twice")
        transcript = await client.transcript(name)

    assert (turn["status"], turn["reply"]["content"]) == ("COMPLETED", "Done.")
    results = [message for message in transcript if message["role"] == "TOOL"]
    assert len(results) == 2
    assert any("sessionId" in message["content"] for message in results), results
    asked = openai_server.requests[-1]["messages"]
    assert [message["role"] for message in asked[-4:]] == ["user", "assistant", "tool", "tool"]
    assert asked[-3]["reasoning_content"] == "Two of them."
    assert len({call["id"] for call in asked[-3]["tool_calls"]}) == 2
    assert len(openai_server.refused) == 2, "the limit's name and the effort were learnt, once each"
