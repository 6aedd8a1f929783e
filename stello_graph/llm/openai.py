"""Models behind the Chat Completions API, OpenAI's and others. The only file that imports the SDK."""

import asyncio
import importlib.util
import json
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from typing import TYPE_CHECKING, Any

from stello_graph.errors import InvalidInput, ModelError, ModelUnavailable
from stello_graph.llm.failures import retry_after
from stello_graph.llm.openai_dialect import Dialect, dialect_at, learnt
from stello_graph.llm.openai_errors import model_error
from stello_graph.llm.openai_events import EventReader
from stello_graph.llm.openai_form import to_params
from stello_graph.llm.openai_reply import ReplyBuilder
from stello_graph.llm.openai_windows import window_of
from stello_graph.model.context import ModelRequest, Reply, TextChunk

if TYPE_CHECKING:
    import openai

__all__ = ["OpenAILLM"]

_NO_KEY = "none"
"""What is sent as the key to a server that needs none: the SDK insists on something."""


class OpenAILLM:
    """OpenAI, or whatever speaks its Chat Completions API at the base URL: vLLM, llama.cpp, Ollama, gateways.

    Retries are made by who calls: only there it is known whether anything was shown already.
    """

    is_offline = False

    def __init__(
        self,
        api_key: str | None,
        *,
        base_url: str | None = None,
        default_model: str = "gpt-6-sol",
        connect_timeout: float = 10.0,
        read_timeout: float = 300.0,
    ) -> None:
        """Opens nothing yet.

        Args:
            api_key: None for a server that needs none.
            base_url: None takes OPENAI_BASE_URL, else OpenAI itself.
            read_timeout: the longest silence, before the first word or in the middle: nothing pings here, and
                a local server may load its model first.

        Raises:
            InvalidInput: the key cannot be one, or the SDK is not installed.
        """
        key = _NO_KEY if api_key is None else api_key.strip()
        if not key or not key.isascii() or not key.isprintable():
            raise InvalidInput("the OpenAI key is empty or holds characters that no key has")
        if importlib.util.find_spec("openai") is None:
            raise InvalidInput("the model provider openai needs its SDK: pip install 'stello-graph[openai]'")
        self.default_model = default_model
        self._key = key
        self._base_url = base_url
        self._timeouts = (connect_timeout, read_timeout)
        self._client: openai.AsyncOpenAI | None = None
        self._connecting = asyncio.Lock()
        self._dialects: dict[str, Dialect] = {}

    def window(self, model: str) -> int | None:
        """The documented window of `model`, None where it is not known."""
        return window_of(model)

    async def connect(self) -> "openai.AsyncOpenAI":
        """Makes the client, at the latest with the first request. Calling it ahead saves that request the
        import of the SDK, which takes seconds, in a thread.
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
            async with self._asked(client, request) as response, aclosing(_events(response)) as events:
                async for event in events:
                    if error := event.get("error"):
                        raise self._error_inside(error, request.model)
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

    @asynccontextmanager
    async def _asked(
        self, client: "openai.AsyncOpenAI", request: ModelRequest
    ) -> "AsyncIterator[openai.AsyncAPIResponse[Any]]":
        """The response to a request that was accepted.

        Where the server refuses a parameter that not all servers know, the same is asked again without it or
        by its other name: nothing was shown yet. What was learnt is kept for the model's next requests.
        """
        import openai

        ask = client.chat.completions.with_streaming_response.create
        dialect: Dialect | None = self._dialects.get(request.model) or dialect_at(client.base_url.host)
        async with AsyncExitStack() as stack:
            response = None
            while response is None:
                assert dialect is not None
                try:
                    params = to_params(request, dialect)
                    response = await stack.enter_async_context(ask(**params, stream=True))
                    self._dialects[request.model] = dialect
                except openai.APIStatusError as error:
                    dialect = learnt(dialect, error.status_code, f"{error.param}: {error.message}")
                    if dialect is None:
                        raise
            yield response

    def _make_client(self) -> "openai.AsyncOpenAI":
        import openai

        connect, read = self._timeouts
        client = openai.AsyncOpenAI(
            api_key=self._key,
            base_url=self._base_url,
            max_retries=0,
            timeout=openai.Timeout(read, connect=connect),
        )
        # Imported on first use, which would stop the loop.
        _ = client.chat.completions
        return client

    def _error_inside(self, error: Any, model: str) -> ModelError:
        told = error if isinstance(error, dict) else {"message": error}
        return model_error(
            200,
            _word(told.get("type")),
            _word(told.get("message")),
            model=model,
            code=_word(told.get("code")),
            secret=self._key,
        )


async def _events(response: "openai.AsyncAPIResponse[Any]") -> AsyncGenerator[dict[str, Any], None]:
    """The events as plain JSON: the SDK's types drop what other servers add, and cost time to be built."""
    reader = EventReader()
    async for data in response.iter_bytes():
        for event in reader.feed(data):
            yield event
        if reader.done:
            return
    for event in reader.close():
        yield event


def _said(body: Any) -> str | None:
    """The sentence of an error's body. A page of HTML is none."""
    told = body.get("message") or body.get("detail") if isinstance(body, dict) else body
    sentence = _word(told or None)
    return None if sentence is None or sentence.lstrip().startswith("<") else sentence


def _word(value: Any) -> str | None:
    return None if value is None else str(value)


def _model_error(error: Exception, model: str, key: str) -> ModelError | None:
    """Our error for the SDK's or the connection's, None for one that is neither."""
    import httpx2
    import openai

    if isinstance(error, openai.APIStatusError):
        return model_error(
            error.status_code,
            _word(error.type),
            _said(error.body),
            model=model,
            code=_word(error.code),
            wait=retry_after(error.response.headers),
            secret=key,
        )
    if isinstance(error, openai.APITimeoutError | httpx2.TimeoutException):
        return ModelUnavailable("the model provider did not answer in time")
    if isinstance(error, openai.APIConnectionError):
        return ModelUnavailable("the model provider cannot be reached")
    if isinstance(error, httpx2.HTTPError | json.JSONDecodeError | UnicodeDecodeError):
        return ModelUnavailable("the model's answer broke off")
    return None
