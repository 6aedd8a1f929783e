"""What the server lets pass and what it refuses, with which sentence."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.openai_server import OpenAIServer

TOOL = {
    "type": "function",
    "function": {"name": "search", "parameters": {"type": "object", "properties": {}}},
}
SYSTEM = {"role": "system", "content": "Be kind."}
USER = {"role": "user", "content": "hi"}
SAID = {"role": "assistant", "content": "Hello."}
FUNCTION = {"name": "search", "arguments": '{"query": "a"}'}
CALL = {"id": "call_1", "type": "function", "function": FUNCTION}
CALLED = {"role": "assistant", "content": None, "tool_calls": [CALL]}
RESULT = {"role": "tool", "tool_call_id": "call_1", "content": "found"}
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,aaaa"}}


def ask(*messages: Any, **fields: Any) -> dict[str, Any]:
    return {"model": "gpt-test", "max_tokens": 100, "stream": True, "messages": list(messages), **fields}


def tool(**fields: Any) -> dict[str, Any]:
    return ask(USER, tools=[{"type": "function", "function": {**TOOL["function"], **fields}}])  # type: ignore[dict-item]


def called(*, message: Any = CALLED, result: Any = RESULT) -> dict[str, Any]:
    return ask(USER, message, result, tools=[TOOL])


LEGAL: dict[str, dict[str, Any]] = {
    "a question": ask(USER),
    "a system message": ask(SYSTEM, USER),
    "a conversation": ask(USER, SAID, USER),
    "a group": called(),
    "a group and a question": ask(USER, CALLED, RESULT, USER, tools=[TOOL]),
    "a choice of none": ask(USER, tools=[TOOL], tool_choice="none"),
    "the usage": ask(USER, stream_options={"include_usage": True}),
    "parts": ask({"role": "user", "content": [IMAGE, {"type": "text", "text": "look"}]}),
    "thoughts": called(message={**CALLED, "reasoning_content": "hm"}),
}

ILLEGAL: dict[str, tuple[dict[str, Any], str]] = {
    "an unknown field": (ask(USER, top_k=1), "Unrecognized request argument supplied: top_k"),
    "no model": ({"messages": [USER]}, "Missing required parameter: 'model'"),
    "a model that is no text": (ask(USER, model=7), "Invalid type for 'model'"),
    "no messages": (ask(), "Missing required parameter: 'messages'"),
    "messages that are no list": (ask(messages="hi"), "Invalid type for 'messages'"),
    "both limits": (ask(USER, max_completion_tokens=1), "at the same time"),
    "a limit of nothing": (ask(USER, max_tokens=0), "Invalid 'max_tokens'"),
    "the usage without a stream": (
        ask(USER, stream=False, stream_options={}),
        "only allowed when 'stream' is enabled",
    ),
    "no stream": (ask(USER, stream=False), "streams only"),
    "an unknown role": (ask({"role": "narrator", "content": "x"}), "Invalid value for 'messages[0].role'"),
    "an unknown field of a message": (
        ask({**USER, "seq": 1}),
        "Unknown parameter: 'messages[0].seq'",
    ),
    "thoughts of the user": (ask({**USER, "reasoning_content": "x"}), "Unknown parameter"),
    "no content": (ask({"role": "user", "content": None}), "Invalid value for 'content'"),
    "empty content": (ask({"role": "user", "content": ""}), "must be non-empty"),
    "blank content": (ask({"role": "system", "content": " \n"}, USER), "must be non-empty"),
    "no parts": (ask({"role": "user", "content": []}), "Invalid value for 'content'"),
    "an empty part": (ask({"role": "user", "content": [{"type": "text", "text": ""}]}), "must be non-empty"),
    "an unknown part": (ask({"role": "user", "content": [{"type": "image"}]}), "Invalid value"),
    "an image from a file": (
        ask({"role": "user", "content": [{"type": "image_url", "image_url": {"url": "file:///a"}}]}),
        "Expected a valid URL",
    ),
    "a document that is none": (
        ask({"role": "user", "content": [{"type": "file", "file": {"file_data": "x"}}]}),
        "file_data",
    ),
    "parts of a tool": (called(result={**RESULT, "content": [IMAGE]}), "Invalid value for 'content'"),
    "an assistant without content": (
        ask(USER, {"role": "assistant", "content": None}, USER),
        "Invalid value for 'content'",
    ),
    "no calls": (called(message={**SAID, "tool_calls": []}), "empty array"),
    "a call without a function": (called(message={**CALLED, "tool_calls": [{"id": "a"}]}), "function"),
    "a call without a name": (
        called(message={**CALLED, "tool_calls": [{**CALL, "function": {**FUNCTION, "name": ""}}]}),
        "Invalid value",
    ),
    "arguments that are no JSON": (
        called(message={**CALLED, "tool_calls": [{**CALL, "function": {**FUNCTION, "arguments": "{"}}]}),
        "expected a JSON object",
    ),
    "an id that is too long": (
        called(message={**CALLED, "tool_calls": [{**CALL, "id": "x" * 41}]}),
        "maximum length 40",
    ),
    "two calls of one id": (called(message={**CALLED, "tool_calls": [CALL, CALL]}), "Duplicate value"),
    "a result without its call": (ask(USER, RESULT, tools=[TOOL]), "must be a response to a preceeding"),
    "a second result": (
        ask(USER, CALLED, RESULT, RESULT, tools=[TOOL]),
        "must be a response to a preceeding",
    ),
    "a result of another call": (called(result={**RESULT, "tool_call_id": "x"}), "must be a response"),
    "a result without an id": (called(result={"role": "tool", "content": "x"}), "tool_call_id"),
    "a call without its result": (ask(USER, CALLED, USER, tools=[TOOL]), "must be followed by tool messages"),
    "a call at the end": (ask(USER, CALLED, tools=[TOOL]), "must be followed by tool messages"),
    "two users": (ask(USER, USER), "roles must alternate"),
    "two assistants": (ask(USER, SAID, SAID, USER), "roles must alternate"),
    "the assistant first": (ask(SAID, USER), "roles must alternate"),
    "the assistant last": (ask(USER, SAID), "roles must alternate"),
    "two system messages": (ask(SYSTEM, SYSTEM, USER), "must be at the beginning"),
    "no tools": (ask(USER, tools=[]), "Invalid 'tools': empty array"),
    "a choice without tools": (ask(USER, tool_choice="none"), "only allowed when 'tools' are specified"),
    "an unknown choice": (ask(USER, tools=[TOOL], tool_choice="maybe"), "Invalid value for 'tool_choice'"),
    "a tool of another kind": (ask(USER, tools=[{"type": "custom"}]), "function"),
    "a tool's unknown field": (
        tool(cache_control={}),
        "Unknown parameter: 'tools[0].function.cache_control'",
    ),
    "a tool's name with a space": (tool(name="a b"), "does not match pattern"),
    "a tool with an empty description": (tool(description=" "), "empty string"),
    "a tool without properties": (tool(parameters={"type": "object"}), "object schema missing properties"),
    "two tools of one name": (ask(USER, tools=[TOOL, TOOL]), "must be unique"),
}


@pytest.fixture
def client(openai_server: OpenAIServer) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {openai_server.api_key}"}
    with httpx.Client(base_url=openai_server.url, headers=headers) as client:
        yield client


def post(client: httpx.Client, body: Any) -> httpx.Response:
    return client.post("/chat/completions", json=body)


def refused(client: httpx.Client, body: Any) -> tuple[int, dict[str, Any]]:
    response = post(client, body)
    error: dict[str, Any] = response.json()["error"]
    return response.status_code, error


@pytest.mark.parametrize("name", LEGAL)
def test_legal(client: httpx.Client, openai_server: OpenAIServer, name: str) -> None:
    response = post(client, LEGAL[name])

    assert response.status_code == 200, response.text
    assert response.text.endswith("data: [DONE]\n\n")
    assert openai_server.requests == [LEGAL[name]]


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal(client: httpx.Client, openai_server: OpenAIServer, name: str) -> None:
    body, sentence = ILLEGAL[name]

    status, error = refused(client, body)

    assert (status, error["type"]) == (400, "invalid_request_error")
    assert sentence in error["message"]
    assert [refusal.message for _, refusal in openai_server.refused] == [error["message"]]


def test_a_prompt_beyond_the_window(client: httpx.Client, openai_server: OpenAIServer) -> None:
    openai_server.rules.window = 100

    status, error = refused(client, ask({"role": "user", "content": "字" * 100}))

    assert (status, error["code"]) == (400, "context_length_exceeded")
    assert "maximum context length is 100 tokens" in error["message"]


def test_a_body_beyond_the_limit(client: httpx.Client, openai_server: OpenAIServer) -> None:
    openai_server.max_bytes = 10

    assert refused(client, ask(USER))[0] == 413


def test_an_unknown_model(client: httpx.Client, openai_server: OpenAIServer) -> None:
    openai_server.rules.models = {"gpt-other"}

    status, error = refused(client, ask(USER))

    assert (status, error["code"]) == (404, "model_not_found")


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}])
def test_a_wrong_key(openai_server: OpenAIServer, headers: dict[str, str]) -> None:
    url = f"{openai_server.url}/chat/completions"

    assert httpx.post(url, json=ask(USER), headers=headers).status_code == 401
    openai_server.api_key = None
    assert httpx.post(url, json=ask(USER), headers=headers).status_code == 200


@pytest.mark.parametrize(
    ("name", "value", "body", "sentence"),
    [
        ("limits", ("max_completion_tokens",), ask(USER), "Unsupported parameter: 'max_tokens'"),
        ("counts", False, ask(USER, stream_options={}), "supplied: stream_options"),
        ("effort_with_tools", "none", ask(USER, tools=[TOOL]), "reasoning_effort are not supported"),
        ("takes_thoughts", (), called(message={**CALLED, "reasoning": "x"}), "'messages[1].reasoning'"),
        ("wants_thoughts", "reasoning", called(), "Missing `reasoning`"),
    ],
)
def test_what_servers_differ_in(
    client: httpx.Client, openai_server: OpenAIServer, name: str, value: Any, body: Any, sentence: str
) -> None:
    assert post(client, body).status_code == 200
    setattr(openai_server.rules, name, value)

    status, error = refused(client, body)

    assert status == 400
    assert sentence in error["message"]


def test_turns_need_not_alternate_at_openai(client: httpx.Client, openai_server: OpenAIServer) -> None:
    openai_server.rules.alternates = False

    assert post(client, ask(SAID, USER, USER)).status_code == 200


@pytest.mark.parametrize("content", [b"{", b"[]", b""])
def test_no_json_object(client: httpx.Client, content: bytes) -> None:
    assert client.post("/chat/completions", content=content).status_code == 400
