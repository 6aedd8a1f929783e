"""Turns with a model behind the Chat Completions API, through `stello-graph serve`."""

from tests.e2e.conftest import OpenStore, Serve
from tests.engines import SQLITE
from tests.openai_server import Answer, OpenAIServer, Refuse


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
