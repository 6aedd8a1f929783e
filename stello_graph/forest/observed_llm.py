"""A model provider that tells of each call: who was asked, how it ended, and what it took."""

from collections.abc import AsyncGenerator

from stello_graph.model.context import ModelRequest, Reply, TextChunk
from stello_graph.ports import LLM
from stello_graph.ports.observing import Kind, Observers, Work, outcome_of

__all__ = ["ObservedLLM"]

_TOKENS = ("input_tokens", "output_tokens", "cache_read_tokens", "cache_write_tokens")


class ObservedLLM:
    """Another provider, `inner`, watched. Its name is its class's: `AnthropicLLM` is anthropic."""

    def __init__(self, llm: LLM, observers: Observers) -> None:
        self.inner = llm
        self._observers = observers
        self._name = type(llm).__name__.removesuffix("LLM").lower()

    @property
    def default_model(self) -> str:
        """See LLM."""
        return self.inner.default_model

    @property
    def is_offline(self) -> bool:
        """See LLM."""
        return self.inner.is_offline

    async def connect(self) -> object:
        """See LLM."""
        return await self.inner.connect()

    def window(self, model: str) -> int | None:
        """See LLM."""
        return self.inner.window(model)

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextChunk | Reply, None]:
        """See LLM."""
        work = self._observers.begin(Kind.MODEL_CALL, self._name, holds=False, facts={"model": request.model})
        stream = self.inner.stream(request)
        try:
            async for item in stream:
                if isinstance(item, Reply):
                    _count(work, item)
                yield item
        except GeneratorExit:
            # Nobody reads on after the reply.
            if "input_tokens" not in work.facts:
                work.outcome = "CANCELLED"
            raise
        except BaseException as error:
            work.outcome = outcome_of(error)
            raise
        finally:
            self._observers.end(work)
            await stream.aclose()

    async def aclose(self) -> None:
        """See LLM."""
        await self.inner.aclose()


def _count(work: Work, reply: Reply) -> None:
    for kind in _TOKENS:
        work.facts[kind] = getattr(reply.usage, kind)
