"""What the server answers: streams, usage, thinking that must come back, failures."""

import json
import threading
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.model_server import Answer, ModelServer, Refuse, redacted, say, think, use
from tests.model_server.test_refusals import RESULT, TOOL, ask, assistant, user

HELLO = {"type": "text", "text": "hello"}
THOUGHT = think("hm", "sig-1")


@pytest.fixture
def client(model_server: ModelServer) -> Iterator[httpx.Client]:
    headers = {"x-api-key": model_server.api_key, "anthropic-version": "2026-10-21"}
    with httpx.Client(base_url=model_server.url, headers=headers, verify=False) as client:
        yield client


def post(client: httpx.Client, body: dict[str, Any]) -> httpx.Response:
    return client.post("/v1/messages", json=body)


def events(client: httpx.Client, body: dict[str, Any] | None = None) -> list[dict[str, Any]]:
    response = post(client, {**(body or ask(user(HELLO))), "stream": True})
    lines = [line.removeprefix("data: ") for line in response.text.splitlines() if line.startswith("data: ")]
    return [json.loads(line) for line in lines]


def test_without_streaming(client: httpx.Client) -> None:
    message = post(client, ask(user(HELLO))).json()

    assert message["content"] == [say("You said: hello")]
    assert message["stop_reason"] == "end_turn"
    assert message["usage"]["input_tokens"] > 0


def test_a_stream(client: httpx.Client, model_server: ModelServer) -> None:
    model_server.script(Answer([say("one two three")], chunk=4))

    names = [event["type"] for event in events(client)]

    assert names == [
        "message_start",
        "ping",
        "content_block_start",
        *["content_block_delta"] * 4,
        "content_block_stop",
        "message_delta",
        "message_stop",
    ]


def test_a_call_that_is_cut(client: httpx.Client, model_server: ModelServer) -> None:
    model_server.script(Answer([use("search", {"query": "long"})], cut_json=9))

    got = events(client)

    pieces = [event["delta"]["partial_json"] for event in got if event["type"] == "content_block_delta"]
    assert "".join(pieces) == '{"query":'
    assert got[-2]["delta"]["stop_reason"] == "max_tokens"


def test_an_error_inside_the_stream(client: httpx.Client, model_server: ModelServer) -> None:
    model_server.script(
        Answer([say("abcdefgh")], chunk=4, error=("overloaded_error", "Overloaded"), fail_at=1)
    )

    got = events(client)

    assert [event["type"] for event in got][-2:] == ["content_block_delta", "error"]
    assert got[-1]["error"]["type"] == "overloaded_error"


def test_a_connection_that_breaks(client: httpx.Client, model_server: ModelServer) -> None:
    model_server.script(Answer([say("abcdefgh")], drop=True, fail_at=1))

    with pytest.raises(httpx.RemoteProtocolError):
        post(client, ask(user(HELLO), stream=True))


def test_a_gate(client: httpx.Client, model_server: ModelServer) -> None:
    answer = Answer([say("abcdefgh")], chunk=4, gate=threading.Event(), gate_at=1)
    model_server.script(answer)
    assert answer.gate is not None

    with client.stream("POST", "/v1/messages", json=ask(user(HELLO), stream=True)) as response:
        assert answer.reached.wait(2)
        answer.gate.set()
        assert "message_stop" in response.read().decode()


def test_a_scripted_refusal(client: httpx.Client, model_server: ModelServer) -> None:
    model_server.script(Refuse(429, "rate_limit_error", "slow down", {"retry-after": "7"}))

    response = post(client, ask(user(HELLO)))

    assert (response.status_code, response.headers["retry-after"]) == (429, "7")
    assert model_server.refused == []


def test_the_cache(client: httpx.Client) -> None:
    mark = {"cache_control": {"type": "ephemeral"}}
    long = {"type": "text", "text": "word " * 100}
    first = post(client, ask(user({**long, **mark}))).json()["usage"]
    grown = ask(user(long), assistant(HELLO), user({**HELLO, **mark}))
    second = post(client, grown).json()["usage"]

    assert (first["cache_creation_input_tokens"], first["cache_read_input_tokens"]) == (125, 0)
    assert (second["cache_creation_input_tokens"], second["cache_read_input_tokens"]) == (4, 125)


class TestThinking:
    @pytest.fixture(autouse=True)
    def issued(self, client: httpx.Client, model_server: ModelServer) -> None:
        model_server.script(Answer([THOUGHT, redacted("secret"), use("search")]))
        post(client, ask(user(HELLO), tools=[TOOL]))

    def reply(self, *blocks: Any, **fields: Any) -> dict[str, Any]:
        return ask(user(HELLO), assistant(*blocks), user(RESULT), **{"tools": [TOOL], **fields})

    def test_as_it_was(self, client: httpx.Client) -> None:
        assert post(client, self.reply(THOUGHT, redacted("secret"), use("search"))).status_code == 200

    def test_none_of_it(self, client: httpx.Client) -> None:
        assert post(client, self.reply(use("search"))).status_code == 200

    def test_to_another_model(self, client: httpx.Client) -> None:
        body = self.reply(THOUGHT, redacted("secret"), use("search"))
        assert post(client, {**body, "model": "claude-another"}).status_code == 200

    @pytest.mark.parametrize(
        ("blocks", "fields", "sentence"),
        [
            ([{**THOUGHT, "thinking": "hmm"}, redacted("secret"), use("search")], {}, "cannot be modified"),
            ([THOUGHT, use("search")], {}, "cannot be modified"),
            ([redacted("secret"), THOUGHT, use("search")], {}, "bound to a different conversation"),
            ([{**THOUGHT, "signature": "x"}, use("search")], {}, "Invalid `signature`"),
            ([THOUGHT, redacted("secret"), use("search")], {"system": "new"}, "bound to a different"),
            (
                [THOUGHT, redacted("secret"), use("search")],
                {"tools": [{**TOOL, "description": "?"}]},
                "bound to",
            ),
        ],
    )
    def test_changed(self, client: httpx.Client, blocks: list[Any], fields: Any, sentence: str) -> None:
        response = post(client, self.reply(*blocks, **fields))

        assert response.status_code == 400
        assert sentence in response.json()["error"]["message"]
