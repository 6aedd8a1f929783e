"""One model call, asked again where it failed before anything was heard."""

import asyncio
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

from stello_graph.errors import InternalError, ModelError, ModelUnavailable
from stello_graph.model.context import ModelRequest, Reply, TextChunk
from stello_graph.model.message import ToolCall
from stello_graph.ports import LLM
from stello_graph.session.context.text import storable, storable_json

__all__ = ["Backoff", "OnText", "call"]

OnText = Callable[[str], Awaitable[None] | None]


@dataclass(frozen=True)
class Backoff:
    """How long to wait before asking again. Seconds.

    Attributes:
        first: before the second attempt; doubled for each further one, up to `most`.
        most: the longest wait of our own.
        jitter: up to this share is taken off at random, so that callers do not come back together.
        patience: the longest wait that a provider may ask for; where it asks for more, its error is final.
    """

    first: float = 0.5
    most: float = 8.0
    jitter: float = 0.5
    patience: float = 30.0

    def delay(self, failures: int, asked: float | None = None) -> float | None:
        """The wait after so many failures, None to give up.

        Args:
            asked: what the provider asked for: never waited less than that.
        """
        own: float = min(self.first * 2.0 ** (failures - 1), self.most) * (1 - self.jitter * random.random())
        if asked is None:
            return own
        return max(own, asked) if asked <= self.patience else None


async def call(
    llm: LLM,
    request: ModelRequest,
    *,
    on_text: OnText | None = None,
    attempts: int = 3,
    backoff: Backoff = Backoff(),
) -> Reply:
    """Asks the model. Tells each piece of text to `on_text` as it comes, and returns the whole reply.

    Both are such as a store can take: a model may write half of a surrogate pair.

    A retryable error is tried again only while nothing was told: a listener cannot unhear. Where one is
    raised after that, the caller has the partial text from `on_text`.

    Raises:
        ModelError: the last attempt's, or the first that cannot be retried.
    """
    failures = 0
    while True:
        heard: list[str] = []
        try:
            return await _attempt(llm, request, heard, on_text)
        except ModelError as error:
            failures += 1
            if not error.retryable or heard or failures >= attempts:
                raise
            delay = backoff.delay(failures, error.details.get("retryAfter"))
            if delay is None:
                raise
        await asyncio.sleep(delay)


async def _attempt(llm: LLM, request: ModelRequest, heard: list[str], on_text: OnText | None) -> Reply:
    stream = llm.stream(request)
    try:
        async for item in stream:
            if isinstance(item, Reply):
                return _checked(item, heard)
            await _tell(item, heard, on_text)
    finally:
        await stream.aclose()
    raise ModelUnavailable("the model's answer ended without a reply")


async def _tell(chunk: TextChunk, heard: list[str], on_text: OnText | None) -> None:
    if not chunk.text:
        return
    heard.append(chunk.text)
    told = on_text(storable(chunk.text)) if on_text else None
    if told is not None:
        await told


def _checked(reply: Reply, heard: list[str]) -> Reply:
    if reply.text != "".join(heard):
        raise InternalError("the model adapter's reply is not what it streamed")
    calls = tuple(
        ToolCall(id=storable(call.id), name=storable(call.name), arguments=storable_json(call.arguments))
        for call in reply.tool_calls
    )
    text = "".join(map(storable, heard))
    return reply.model_copy(update={"text": text, "tool_calls": calls, "parts": storable_json(reply.parts)})
