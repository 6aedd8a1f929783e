"""The API as an ASGI app."""

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.openai_server.answers import Answer, Refuse, deltas_of, output_tokens
from tests.openai_server.refusal import Refusal, illegal

__all__ = ["Brain", "make_app"]

_GATE_STEP = 0.002


class Brain(Protocol):
    """What the app asks: who may call, what is legal, what to answer."""

    api_key: str | None
    max_bytes: int

    def accept(self, body: Any) -> tuple[Answer | Refuse, dict[str, Any]]:
        """The answer and the usage of the prompt, or raises Refusal."""
        ...

    def reject(self, body: Any, refusal: Refusal) -> None:
        """Notes a refusal."""
        ...


class _Broken(Exception):
    """Raised inside a response, which makes uvicorn close the connection in the middle of it."""


def make_app(brain: Brain) -> Starlette:
    """The app around `brain`."""

    async def completions(request: Request) -> Response:
        body: Any = None
        try:
            _check_key(request, brain.api_key)
            body = await _read(request, brain.max_bytes)
            answer, usage = brain.accept(body)
            if not body.get("stream"):
                raise illegal("This stand-in streams only: set 'stream'.", "stream")
        except Refusal as refusal:
            brain.reject(body, refusal)
            return _refuse(refusal)
        if isinstance(answer, Answer):
            return StreamingResponse(_events(answer, body, usage), media_type="text/event-stream")
        if answer.body is not None:
            return Response(answer.body, answer.status, answer.headers)
        return _refuse(answer.refusal())

    return Starlette(routes=[Route("/v1/chat/completions", completions, methods=["POST"])])


def _refuse(refusal: Refusal) -> Response:
    return JSONResponse(refusal.body(), refusal.status, refusal.headers)


def _check_key(request: Request, api_key: str | None) -> None:
    if api_key is None:
        return
    given = request.headers.get("authorization", "").removeprefix("Bearer ")
    if given != api_key:
        message = f"Incorrect API key provided: {given}."
        raise Refusal(401, message, code="invalid_api_key")


async def _read(request: Request, most: int) -> Any:
    raw = await request.body()
    if len(raw) > most:
        raise Refusal(413, "Request entity too large")
    try:
        return json.loads(raw)
    except ValueError as error:
        raise illegal("We could not parse the JSON body of your request.") from error


async def _events(answer: Answer, body: dict[str, Any], usage: dict[str, Any]) -> AsyncIterator[bytes]:
    if answer.raw is not None:
        yield answer.raw
        return
    chunk = {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 0, "model": body["model"]}

    def frame(delta: dict[str, Any], finish: str | None = None) -> bytes:
        choice = {"index": 0, "delta": delta, "logprobs": None, "finish_reason": finish}
        return _frame({**chunk, "choices": [choice], "usage": None})

    yield frame({"role": "assistant", "content": "", "refusal": None})
    for number, delta in enumerate(deltas_of(answer)):
        await _before_delta(answer, number)
        if number == answer.fail_at and (failure := _failure(answer)):
            yield failure
            return
        yield frame(delta)
    if failure := _failure(answer):
        yield failure
        return
    if answer.ends:
        yield frame({}, answer.finish_reason)
    if (body.get("stream_options") or {}).get("include_usage"):
        tokens = output_tokens(answer)
        total = usage["prompt_tokens"] + tokens
        told = {**usage, "completion_tokens": tokens, "total_tokens": total}
        yield _frame({**chunk, "choices": [], "usage": told})
    yield b"data: [DONE]\n\n"


def _frame(event: dict[str, Any]) -> bytes:
    return f"data: {json.dumps(event, ensure_ascii=False)}\n\n".encode()


async def _before_delta(answer: Answer, number: int) -> None:
    if answer.pause:
        await asyncio.sleep(answer.pause)
    if answer.gate is not None and number == answer.gate_at:
        answer.reached.set()
        # The test's thread sets it, which could not set an event of this loop.
        while not answer.gate.is_set():  # noqa: ASYNC110
            await asyncio.sleep(_GATE_STEP)


def _failure(answer: Answer) -> bytes | None:
    if answer.drop:
        raise _Broken
    return None if answer.error is None else _frame({"error": answer.error})
