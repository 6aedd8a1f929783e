"""A model that answers as drawn, and takes no request that a provider would refuse."""

import asyncio
import itertools
from collections.abc import AsyncGenerator, Iterator
from contextlib import aclosing
from dataclasses import dataclass, field
from typing import Any

from stello_graph.errors import ModelRefused, ModelUnavailable
from stello_graph.llm import anthropic_form, openai_form
from stello_graph.llm.openai_dialect import Dialect
from stello_graph.llm.scripted import Beat, ScriptedLLM
from stello_graph.model.context import ModelRequest, Reply, ReplyStop, TextChunk
from stello_graph.model.message import ToolCall
from stello_graph.model.values import Usage
from tests.model_server import rules as anthropic_rules
from tests.model_server.refusal import Refusal as AnthropicRefusal
from tests.model_server.thinking import Issued
from tests.openai_server import rules as openai_rules
from tests.openai_server.refusal import Refusal as OpenAIRefusal

__all__ = ["Answer", "Brain", "StrictModel"]

SNAPSHOT = "-20260101"


@dataclass(frozen=True)
class Answer:
    """What a model does with one request.

    Attributes:
        thinks: a thinking block goes before the text.
        calls: id, name and arguments of each call.
        waits: it stops in the middle until the walk goes on.
        fails: it breaks off after its text.
    """

    text: str = ""
    thinks: bool = False
    calls: tuple[tuple[str, str, Any], ...] = ()
    stop: ReplyStop = ReplyStop.END_TURN
    waits: bool = False
    fails: bool = False


@dataclass
class Brain:
    """What all models of one walk share.

    Attributes:
        answers: those still to be given; then it is "Done."
        gate: what those answers wait for that wait.
        complaints: why requests would have been refused.
    """

    answers: Iterator[Answer]
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    complaints: list[str] = field(default_factory=list)
    issued: Issued = field(default_factory=Issued)
    numbers: Iterator[int] = field(default_factory=itertools.count)

    def check(self, request: ModelRequest) -> dict[str, Any]:
        """Notes why a provider would refuse the request; answers its form at Anthropic."""
        body = anthropic_form.to_params(request)
        try:
            anthropic_rules.check(body, issued=self.issued)
            openai_rules.check({**openai_form.to_params(request, Dialect()), "stream": True})
        except (AnthropicRefusal, OpenAIRefusal) as refusal:
            self.complaints.append(f"{refusal}: {body['messages']}")
        return body

    def release(self) -> None:
        """Lets the answers go on that wait; the next ones wait again."""
        gate, self.gate = self.gate, asyncio.Event()
        gate.set()

    def beats(self, request: ModelRequest) -> list[Beat]:
        """The next answer."""
        if not request.tools:
            return ["A summary."]
        answer = next(self.answers, Answer("Done."))
        middle = len(answer.text) // 2
        beats: list[Beat] = [piece for piece in (answer.text[:middle], answer.text[middle:]) if piece]
        if answer.waits:
            beats.insert(middle > 0, self.gate)
        if answer.fails:
            error = ModelUnavailable("overloaded", retryAfter=1_000) if answer.text else ModelRefused("no")
            return [*beats, error]
        parts = self._parts(answer) if answer.thinks else None
        calls = tuple(ToolCall(id=id, name=name, arguments=given) for id, name, given in answer.calls)
        stop = ReplyStop.TOOL_USE if calls and answer.stop is ReplyStop.END_TURN else answer.stop
        usage = Usage(input_tokens=7, output_tokens=3, llm_calls=1)
        last = Reply(
            text="", parts=parts, tool_calls=calls, stop=stop, usage=usage, model=request.model + SNAPSHOT
        )
        return [*beats, last]

    def _parts(self, answer: Answer) -> list[dict[str, Any]]:
        number = next(self.numbers)
        parts = [{"type": "thinking", "thinking": f"Hm {number} ", "signature": f"sig+{number}/=="}]
        if answer.text:
            parts.append({"type": "text", "text": answer.text})
        return parts


class StrictModel(ScriptedLLM):
    """The model of one process."""

    def __init__(self, brain: Brain) -> None:
        super().__init__(default=brain.beats, default_model="model-a")
        self._brain = brain

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextChunk | Reply, None]:
        """See ScriptedLLM; refuses what a provider would refuse."""
        body = self._brain.check(request)
        async with aclosing(super().stream(request)) as stream:
            async for item in stream:
                if isinstance(item, Reply) and item.parts:
                    self._brain.issued.remember(body, item.parts)
                yield item
