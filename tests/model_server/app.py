"""The API as an ASGI app."""

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from typing import Any, Protocol

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response, StreamingResponse
from starlette.routing import Route

from tests.model_server.answers import Answer, Refuse
from tests.model_server.events import Event, deltas_of, frame, message_of, opening, output_tokens
from tests.model_server.refusal import Refusal, illegal

__all__ = ["Brain", "make_app"]

_GATE_STEP = 0.002


class Brain(Protocol):
    """What the app asks: who may call, what is legal, what to answer."""

    api_key: str
    max_bytes: int

    def accept(self, body: Any) -> tuple[Answer | Refuse, dict[str, int]]:
        """The answer and the usage of the prompt, or raises Refusal."""
        ...

    def reject(self, body: Any, refusal: Refusal) -> None:
        """Notes a refusal."""
        ...

    def next_id(self) -> str:
        """A new id for a message or a request."""
        ...

    def name_of(self, body: dict[str, Any]) -> str:
        """The model that answers, by its own word."""
        ...

    def sent(self, body: dict[str, Any], answer: Answer) -> None:
        """Notes what was given out."""
        ...


class _Broken(Exception):
    """Raised inside a response, which makes uvicorn close the connection in the middle of it."""


def make_app(brain: Brain) -> Starlette:
    """The app around `brain`."""

    async def messages(request: Request) -> Response:
        body: Any = None
        try:
            _check_headers(request, brain.api_key)
            body = await _read(request, brain.max_bytes)
            answer, usage = brain.accept(body)
        except Refusal as refusal:
            brain.reject(body, refusal)
            return _refuse(brain, refusal)
        if isinstance(answer, Answer):
            return _respond(brain, body, answer, usage)
        if answer.body is not None:
            return Response(answer.body, answer.status, answer.headers)
        return _refuse(brain, answer.refusal())

    return Starlette(routes=[Route("/v1/messages", messages, methods=["POST"])])


def _refuse(brain: Brain, refusal: Refusal) -> Response:
    id = "req_" + brain.next_id()
    return JSONResponse(refusal.body(id), refusal.status, {"request-id": id, **refusal.headers})


def _check_headers(request: Request, api_key: str) -> None:
    bearer = request.headers.get("authorization", "").removeprefix("Bearer ")
    key = request.headers.get("x-api-key") or bearer
    if not key:
        raise Refusal(401, "authentication_error", "x-api-key header is required")
    if key != api_key:
        raise Refusal(401, "authentication_error", "invalid x-api-key")
    if not request.headers.get("anthropic-version"):
        raise illegal("anthropic-version: header is required")


async def _read(request: Request, most: int) -> Any:
    raw = await request.body()
    if len(raw) > most:
        raise Refusal(413, "request_too_large", "Request exceeds the maximum size")
    try:
        return json.loads(raw)
    except ValueError as error:
        raise illegal("The request body is not valid JSON") from error


def _respond(brain: Brain, body: dict[str, Any], answer: Answer, usage: dict[str, int]) -> Response:
    id = "msg_" + brain.next_id()
    headers = {"request-id": "req_" + brain.next_id()}
    if body.get("stream"):
        events = _events(answer, opening(id, brain.name_of(body), usage), lambda: brain.sent(body, answer))
        return StreamingResponse(events, headers=headers, media_type="text/event-stream")
    brain.sent(body, answer)
    whole = {**usage, "output_tokens": output_tokens(answer)}
    return JSONResponse(message_of(answer, id, brain.name_of(body), whole), headers=headers)


async def _events(answer: Answer, first: Event, sent: Callable[[], None]) -> AsyncIterator[bytes]:
    if answer.events is not None:
        for event in answer.events:
            yield frame(event)
        return
    yield frame(first)
    yield frame(("ping", {"type": "ping"}))
    number = 0
    for event in deltas_of(answer):
        if event[0] == "content_block_delta":
            await _before_delta(answer, number)
            if number == answer.fail_at and (failure := _failure(answer)):
                yield failure
                return
            number += 1
        yield frame(event)
    if failure := _failure(answer):
        yield failure
        return
    sent()
    yield frame(("message_delta", _ending(answer)))
    yield frame(("message_stop", {"type": "message_stop"}))


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
    if answer.error is None:
        return None
    type, message = answer.error
    return frame(("error", {"type": "error", "error": {"type": type, "message": message}}))


def _ending(answer: Answer) -> dict[str, Any]:
    return {
        "type": "message_delta",
        "delta": {"stop_reason": answer.stop_reason, "stop_sequence": None},
        "usage": {"output_tokens": output_tokens(answer)},
    }
