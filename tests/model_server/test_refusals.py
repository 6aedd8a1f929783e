"""Each rule of the API, by raw HTTP: a legal request, one thing wrong with it, the refusal."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.model_server import ModelServer

Body = dict[str, Any]

TOOL = {"name": "search", "description": "finds", "input_schema": {"type": "object", "properties": {}}}
CALL = {"type": "tool_use", "id": "toolu_1", "name": "search", "input": {}}
RESULT = {"type": "tool_result", "tool_use_id": "toolu_1", "content": "found"}
TEXT = {"type": "text", "text": "hello"}


def ask(*messages: Body, **fields: Any) -> Body:
    return {"model": "claude-test", "max_tokens": 100, "messages": list(messages), **fields}


def user(*blocks: Any) -> Body:
    return {"role": "user", "content": list(blocks)}


def assistant(*blocks: Any) -> Body:
    return {"role": "assistant", "content": list(blocks)}


def group(call: Body = CALL, result: Body = RESULT, *, tools: Any = (TOOL,)) -> Body:
    return ask(user(TEXT), assistant(call), user(result), tools=list(tools))


def tool(**changes: Any) -> Body:
    return ask(user(TEXT), tools=[{**TOOL, **changes}])


def marked(count: int) -> Body:
    return ask(user(*[{**TEXT, "cache_control": {"type": "ephemeral"}}] * count))


@pytest.fixture
def client(model_server: ModelServer) -> Iterator[httpx.Client]:
    headers = {"authorization": f"Bearer {model_server.api_key}", "anthropic-version": "2026-10-21"}
    with httpx.Client(base_url=model_server.url, headers=headers, verify=False) as client:
        yield client


LEGAL = {
    "a text": ask({"role": "user", "content": "hello"}),
    "a group": group(),
    "text before a call": ask(user(TEXT), assistant(TEXT, CALL), user(RESULT, TEXT), tools=[TOOL]),
    "tool choice none": {**group(), "tool_choice": {"type": "none"}},
    "a result without content": group(result={"type": "tool_result", "tool_use_id": "toolu_1"}),
    "an error that says why": group(result={**RESULT, "is_error": True}),
    "four marks": marked(4),
    "system blocks": ask(user(TEXT), system=[TEXT]),
    "an image": ask(
        user({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "aaaa"}})
    ),
}

ILLEGAL: dict[str, tuple[Body, str]] = {
    # fields
    "no max_tokens": ({"model": "m", "messages": [user(TEXT)]}, "max_tokens: Field required"),
    "no model": ({"max_tokens": 1, "messages": [user(TEXT)]}, "model: Field required"),
    "no tokens asked": (ask(user(TEXT)) | {"max_tokens": 0}, "greater than or equal to 1"),
    "too many tokens asked": (ask(user(TEXT)) | {"max_tokens": 10**6}, "maximum allowed number of output"),
    "an unknown field": (ask(user(TEXT), temperature=1), "temperature: Extra inputs are not permitted"),
    "no messages": (ask(), "at least one message is required"),
    # roles
    "assistant first": (ask(assistant(TEXT), user(TEXT)), 'first message must use the "user" role'),
    "assistant last": (ask(user(TEXT), assistant(TEXT)), "does not support assistant message prefill"),
    "two users in a row": (ask(user(TEXT), user(TEXT)), 'multiple "user" roles in a row'),
    "two assistants in a row": (
        ask(user(TEXT), assistant(TEXT), assistant(TEXT), user(TEXT)),
        'multiple "assistant" roles in a row',
    ),
    "role system": (ask({"role": "system", "content": "x"}), "messages.0.role"),
    # empty things
    "empty content": (ask(user()), "non-empty content"),
    "empty string": (ask({"role": "user", "content": ""}), "non-empty content"),
    "empty text": (ask(user({"type": "text", "text": ""})), "text content blocks must be non-empty"),
    "blank text": (ask(user({"type": "text", "text": " \n"})), "must contain non-whitespace text"),
    "blank string": (ask({"role": "user", "content": "  "}), "must contain non-whitespace text"),
    "empty system text": (ask(user(TEXT), system=[{"type": "text", "text": ""}]), "must be non-empty"),
    "empty text in a result": (
        group(result={**RESULT, "content": [{"type": "text", "text": ""}]}),
        "must be non-empty",
    ),
    # tools
    "calls without tools": (group(tools=[]), "must define tools"),
    "an unanswered call": (
        ask(user(TEXT), assistant(CALL), user(TEXT), tools=[TOOL]),
        "`tool_use` ids were found without `tool_result` blocks immediately after: toolu_1",
    ),
    "one of two calls answered": (
        ask(user(TEXT), assistant(CALL, {**CALL, "id": "toolu_2"}), user(RESULT), tools=[TOOL]),
        "immediately after: toolu_2",
    ),
    "an answer too late": (
        ask(user(TEXT), assistant(CALL), user(TEXT), assistant(TEXT), user(RESULT), tools=[TOOL]),
        "immediately after",
    ),
    "text before the result": (
        ask(user(TEXT), assistant(CALL), user(TEXT, RESULT), tools=[TOOL]),
        "immediately after",
    ),
    "a result without its call": (
        ask(user(TEXT), assistant(TEXT), user(RESULT), tools=[TOOL]),
        "unexpected `tool_use_id` found in `tool_result` blocks: toolu_1",
    ),
    "a result of another call": (
        group(result={**RESULT, "tool_use_id": "toolu_9"}),
        "unexpected `tool_use_id`",
    ),
    "two results of a call": (
        ask(user(TEXT), assistant(CALL), user(RESULT, RESULT), tools=[TOOL]),
        "each tool_use must have a single result",
    ),
    "an id used twice": (
        ask(user(TEXT), assistant(CALL), user(RESULT), assistant(CALL), user(RESULT), tools=[TOOL]),
        "`tool_use` ids must be unique",
    ),
    "text after a call": (
        ask(user(TEXT), assistant(CALL, TEXT), user(RESULT), tools=[TOOL]),
        "must be the last blocks",
    ),
    "an id with a colon": (
        group({**CALL, "id": "a:b"}, {**RESULT, "tool_use_id": "a:b"}),
        "should match pattern",
    ),
    "input that is no object": (group({**CALL, "input": [1]}), "input: Input should be a valid dictionary"),
    "an error without text": (
        group(result={"type": "tool_result", "tool_use_id": "toolu_1", "is_error": True}),
        "content cannot be empty if `is_error` is true",
    ),
    "a call from the user": (ask(user(CALL), tools=[TOOL]), "does not match any of the expected tags"),
    "a tool choice without tools": (ask(user(TEXT), tool_choice={"type": "none"}), "while providing tools"),
    "a tool without schema": (tool(input_schema=None), "input_schema: Field required"),
    "a schema of no object": (tool(input_schema={"type": "string"}), "input_schema.type"),
    "a schema that is none": (
        tool(input_schema={"type": "object", "properties": {"a": {"type": "strnig"}}}),
        "JSON schema is invalid",
    ),
    "a choice at the top": (tool(input_schema={"type": "object", "anyOf": []}), "does not support anyOf"),
    "a tool's name with a space": (tool(name="a b"), "name: String should match pattern"),
    "two tools of one name": (ask(user(TEXT), tools=[TOOL, TOOL]), "Tool names must be unique"),
    # caching
    "five marks": (marked(5), "A maximum of 4 blocks with cache_control may be provided. Found 5."),
    "a mark on empty text": (
        ask(user({"type": "text", "text": "", "cache_control": {"type": "ephemeral"}})),
        "cache_control cannot be set for empty text blocks",
    ),
    # thinking
    "thinking that was never issued": (
        ask(user(TEXT), assistant({"type": "thinking", "thinking": "a", "signature": "b"}, TEXT), user(TEXT)),
        "messages.1.content.0: Invalid `signature` in `thinking` block",
    ),
    "thinking with a blank signature": (
        ask(user(TEXT), assistant({"type": "thinking", "thinking": "a", "signature": ""}, TEXT), user(TEXT)),
        "Invalid `signature`",
    ),
    "thinking at the end": (
        ask(user(TEXT), assistant({"type": "thinking", "thinking": "a", "signature": "b"}), user(TEXT)),
        "final block in an assistant message cannot be `thinking`",
    ),
    # media
    "an image without bytes": (
        ask(user({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": ""}})),
        "source",
    ),
}


@pytest.mark.parametrize("name", LEGAL)
def test_legal(client: httpx.Client, model_server: ModelServer, name: str) -> None:
    response = client.post("/v1/messages", json=LEGAL[name])

    assert response.status_code == 200, response.text
    assert model_server.requests == [LEGAL[name]]


@pytest.mark.parametrize("name", ILLEGAL)
def test_illegal(client: httpx.Client, model_server: ModelServer, name: str) -> None:
    body, sentence = ILLEGAL[name]

    response = client.post("/v1/messages", json=body)

    assert response.status_code == 400
    answer = response.json()
    assert answer["type"] == "error"
    assert answer["error"]["type"] == "invalid_request_error"
    assert sentence in answer["error"]["message"]
    assert answer["request_id"] == response.headers["request-id"]
    assert model_server.requests == []
    assert [refusal.message for _, refusal in model_server.refused] == [answer["error"]["message"]]


def test_a_prompt_beyond_the_window(client: httpx.Client, model_server: ModelServer) -> None:
    model_server.rules.window = 100

    response = client.post("/v1/messages", json=ask(user({"type": "text", "text": "字" * 100})))

    assert response.status_code == 400
    assert response.json()["error"]["message"] == "prompt is too long: 104 tokens > 100 maximum"


def test_a_body_beyond_the_limit(client: httpx.Client, model_server: ModelServer) -> None:
    model_server.max_bytes = 100

    response = client.post("/v1/messages", json=ask(user({"type": "text", "text": "x" * 100})))

    assert response.status_code == 413
    assert response.json()["error"]["type"] == "request_too_large"


def test_an_unknown_model(client: httpx.Client, model_server: ModelServer) -> None:
    model_server.rules.models = {"claude-other"}

    response = client.post("/v1/messages", json=ask(user(TEXT)))

    assert response.status_code == 404
    assert response.json()["error"] == {"type": "not_found_error", "message": "model: claude-test"}


@pytest.mark.parametrize("headers", [{}, {"authorization": "Bearer wrong"}, {"x-api-key": "wrong"}])
def test_a_wrong_key(model_server: ModelServer, headers: dict[str, str]) -> None:
    response = httpx.post(f"{model_server.url}/v1/messages", json=ask(user(TEXT)), headers=headers)

    assert response.status_code == 401
    assert response.json()["error"]["type"] == "authentication_error"


def test_the_older_key_header(model_server: ModelServer) -> None:
    headers = {"x-api-key": model_server.api_key, "anthropic-version": "2023-06-01"}

    assert httpx.post(f"{model_server.url}/v1/messages", json=ask(user(TEXT)), headers=headers).is_success


def test_no_version(model_server: ModelServer) -> None:
    headers = {"x-api-key": model_server.api_key}

    response = httpx.post(f"{model_server.url}/v1/messages", json=ask(user(TEXT)), headers=headers)

    assert "anthropic-version" in response.json()["error"]["message"]


@pytest.mark.parametrize("content", [b"{", b"[]", b"", b"\xff"])
def test_no_json_object(client: httpx.Client, content: bytes) -> None:
    assert client.post("/v1/messages", content=content).status_code == 400
