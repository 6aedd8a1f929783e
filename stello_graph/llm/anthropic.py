"""Claude through Anthropic's Messages API. The only file that imports the SDK."""

import asyncio
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

from stello_graph.errors import InvalidInput, ModelError, ModelUnavailable
from stello_graph.llm.anthropic_errors import is_about_thinking, model_error
from stello_graph.llm.anthropic_form import to_params, window_of, without_thinking
from stello_graph.llm.anthropic_reply import ReplyBuilder
from stello_graph.llm.failures import retry_after
from stello_graph.model.context import ModelRequest, Reply, TextChunk

if TYPE_CHECKING:
    import anthropic

__all__ = ["AnthropicLLM"]


class AnthropicLLM:
    """Anthropic, or whatever speaks its API at the base URL.

    Retries are made by who calls: only there it is known whether anything was shown already.
    """

    is_offline = False

    def __init__(
        self,
        api_key: str,
        *,
        base_url: str | None = None,
        default_model: str = "claude-sonnet-5-5",
        connect_timeout: float = 10.0,
        read_timeout: float = 120.0,
    ) -> None:
        """Opens nothing yet.

        Args:
            base_url: None takes ANTHROPIC_BASE_URL, else Anthropic itself.
            read_timeout: the longest silence in the middle of a stream; the provider pings more often.

        Raises:
            InvalidInput: the key cannot be one.
        """
        key = api_key.strip()
        if not key or not key.isascii() or not key.isprintable():
            raise InvalidInput("the Anthropic key is empty or holds characters that no key has")
        self.default_model = default_model
        self._key = key
        self._base_url = base_url
        self._timeouts = (connect_timeout, read_timeout)
        self._client: anthropic.AsyncAnthropic | None = None
        self._connecting = asyncio.Lock()

    def window(self, model: str) -> int | None:
        """The documented window of `model`, None where it is not known."""
        return window_of(model)

    async def connect(self) -> "anthropic.AsyncAnthropic":
        """Makes the client, at the latest with the first request. Calling it ahead saves that request
        the import of the SDK, which takes seconds (5.7 s of CPU, measured), in a thread.
        """
        async with self._connecting:
            if self._client is None:
                self._client = await asyncio.to_thread(self._make_client)
            return self._client

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextChunk | Reply, None]:
        """Asks once. See `ports.LLM`."""
        client = await self.connect()
        builder = ReplyBuilder(request.model)
        try:
            async with _asked(client, to_params(request)) as response, aclosing(_events(response)) as events:
                async for event in events:
                    if event.get("type") == "error":
                        raise self._error_inside(event, request.model)
                    if text := builder.add(event):
                        yield TextChunk(text=text)
        except Exception as error:
            mapped = _model_error(error, request.model, self._key)
            if mapped is None:
                raise
            raise mapped from error
        yield builder.reply()

    async def aclose(self) -> None:
        """Frees the connections."""
        client, self._client = self._client, None
        if client is not None:
            await client.close()

    def _make_client(self) -> "anthropic.AsyncAnthropic":
        import anthropic

        connect, read = self._timeouts
        client = anthropic.AsyncAnthropic(
            api_key=self._key,
            base_url=self._base_url,
            max_retries=0,
            timeout=anthropic.Timeout(read, connect=connect),
        )
        # Imported on first use, which would stop the loop.
        _ = client.messages
        return client

    def _error_inside(self, event: dict[str, Any], model: str) -> ModelError:
        error = event.get("error")
        told = error if isinstance(error, dict) else {}
        return model_error(200, told.get("type"), told.get("message"), model=model, secret=self._key)


@asynccontextmanager
async def _asked(
    client: "anthropic.AsyncAnthropic", params: dict[str, Any]
) -> "AsyncIterator[anthropic.AsyncAPIResponse[Any]]":
    """The response to a request that was accepted.

    Where the provider refuses the replayed thinking, the same is asked once more without any, as it
    advises: nothing was shown yet, and the model thinks anew.
    """
    import anthropic

    ask = client.messages.with_streaming_response.create
    async with AsyncExitStack() as stack:
        try:
            response = await stack.enter_async_context(ask(**params, stream=True))
        except anthropic.BadRequestError as error:
            bare = without_thinking(params)
            if bare is params or not is_about_thinking(error.status_code, error.api_message):
                raise
            response = await stack.enter_async_context(ask(**bare, stream=True))
        yield response


async def _events(response: "anthropic.AsyncAPIResponse[Any]") -> AsyncGenerator[dict[str, Any], None]:
    """The events as plain JSON, so that blocks stay as they came.

    The SDK's typed events take a second of the loop to be built for the first time, and its
    accumulation raises on tool JSON that was cut.
    """
    import anthropic

    async for event in anthropic.AsyncStream.raw_events(response.http_response):
        data = event.json() if event.data else {}
        yield data if isinstance(data, dict) else {}


def _model_error(error: Exception, model: str, key: str) -> ModelError | None:
    """Our error for the SDK's or the connection's, None for one that is neither."""
    import anthropic
    import httpx2

    if isinstance(error, anthropic.APIStatusError):
        return model_error(
            error.status_code,
            error.type,
            error.api_message,
            model=model,
            code=error.error_code,
            wait=retry_after(error.response.headers),
            secret=key,
        )
    if isinstance(error, anthropic.APITimeoutError | httpx2.TimeoutException):
        return ModelUnavailable("the model provider did not answer in time")
    if isinstance(error, anthropic.APIConnectionError):
        return ModelUnavailable("the model provider cannot be reached")
    if isinstance(error, httpx2.HTTPError | json.JSONDecodeError | UnicodeDecodeError):
        return ModelUnavailable("the model's answer broke off")
    return None
