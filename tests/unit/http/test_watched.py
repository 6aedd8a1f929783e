"""A stream whose caller cannot be asked for any more."""

import asyncio
import logging

import pytest
from starlette.responses import Response
from starlette.types import Message, Receive, Scope, Send

from stello_graph.http.watched import WatchedResponse


class Endless(Response):
    """Begins, and goes on until it is broken off."""

    def __init__(self) -> None:
        super().__init__()
        self.broken_off = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        try:
            await asyncio.Event().wait()
        finally:
            self.broken_off = True


async def test_who_asks_cannot_be_told(caplog: pytest.LogCaptureFixture) -> None:
    """The stream ends, and the log says why."""

    async def fault() -> None:
        await asyncio.sleep(0)
        raise ValueError("of an application")

    async def receive() -> Message:
        raise AssertionError("nothing is read")

    sent: list[Message] = []

    async def send(message: Message) -> None:
        sent.append(message)

    stream = Endless()
    with caplog.at_level(logging.ERROR):
        await WatchedResponse(stream, fault)({"type": "http"}, receive, send)

    assert stream.broken_off
    assert sent[-1] == {"type": "http.response.body", "body": b"", "more_body": False}
    (record,) = caplog.records
    assert record.exc_info is not None
    assert record.exc_info[0] is ValueError
