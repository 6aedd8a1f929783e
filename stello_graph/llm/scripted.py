"""The double of a model, for tests: here and in applications that embed this package."""

import asyncio
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterable, Sequence
from typing import Any, TypeAlias

from stello_graph.errors import ModelRefused
from stello_graph.model.context import ModelRequest, Reply, ReplyStop, TextChunk
from stello_graph.model.message import ToolCall
from stello_graph.model.values import Usage

__all__ = ["Pause", "ScriptedLLM", "Step", "tool_use"]


class Pause:
    """A point where the model waits for the test.

    Attributes:
        reached: set when the model has come here.
        over: to be set by the test.
    """

    def __init__(self) -> None:
        self.reached = asyncio.Event()
        self.over = asyncio.Event()


Beat: TypeAlias = str | Pause | asyncio.Event | BaseException | Reply

Step: TypeAlias = (
    str | Reply | BaseException | Sequence[Beat] | Callable[[ModelRequest], "Step | Awaitable[Step]"]
)


class ScriptedLLM:
    """Answers by a script, one step a request, and remembers the requests.

    A step is one of:

    - a text: the whole reply;
    - a Reply: its text, then itself;
    - an exception: raised at once;
    - a sequence, played in order: a text is one chunk, a Pause or an Event is waited for, an exception
      breaks off, a Reply at the end gives what is not text (its own text must be what was played, or "");
    - a function of the request that returns one of these, or awaits it.

    Attributes:
        requests: what was asked, oldest first.
        script: the steps still to come.
    """

    is_offline = False

    def __init__(
        self,
        script: Iterable[Step] = (),
        *,
        default: Step | None = None,
        default_model: str = "scripted",
        window: int | None = None,
        chunk_size: int | None = None,
        usage: Usage | None = None,
    ) -> None:
        """
        Args:
            default: the step where the script is over; None refuses, and says so.
            chunk_size: characters a chunk of a whole text; None gives it in one.
            usage: what a reply costs that names no usage of its own.
        """
        self.script: deque[Step] = deque(script)
        self.requests: list[ModelRequest] = []
        self.default_model = default_model
        self._default = default
        self._window = window
        self._chunk_size = chunk_size
        self._usage = usage or Usage(input_tokens=10, output_tokens=5, llm_calls=1)

    def window(self, model: str) -> int | None:
        """The window that the test gave, for every model."""
        return self._window

    async def stream(self, request: ModelRequest) -> AsyncGenerator[TextChunk | Reply, None]:
        """Plays the next step."""
        self.requests.append(request)
        step = self.script.popleft() if self.script else self._default
        while callable(step):
            made = step(request)
            step = await made if isinstance(made, Awaitable) else made
        if step is None:
            raise ModelRefused(f"the script is over: nothing answers request {len(self.requests)}")
        text, last = "", Reply(text="", stop=ReplyStop.END_TURN, model=request.model)
        for beat in self._beats(step):
            match beat:
                case str():
                    text += beat
                    yield TextChunk(text=beat)
                case Pause():
                    beat.reached.set()
                    await beat.over.wait()
                case asyncio.Event():
                    await beat.wait()
                case Reply():
                    last = beat
                case _:
                    raise beat
        usage = last.usage if last.usage.llm_calls else self._usage
        yield last.model_copy(update={"text": last.text or text, "usage": usage})

    async def connect(self) -> None:
        """Nothing to make ready."""

    async def aclose(self) -> None:
        """There is nothing to free."""

    def _beats(self, step: Step) -> Iterable[Beat]:
        if isinstance(step, str):
            return self._chunks(step)
        if isinstance(step, Reply):
            return [*self._chunks(step.text), step]
        if isinstance(step, BaseException):
            return [step]
        assert not callable(step)
        return step

    def _chunks(self, text: str) -> list[str]:
        size = self._chunk_size or len(text) or 1
        return [text[at : at + size] for at in range(0, len(text), size)]


def tool_use(name: str, arguments: Any = None, *, id: str = "call_1", text: str = "") -> Reply:
    """A reply that asks for one tool. More calls: `model_copy` with further `tool_calls`."""
    call = ToolCall(id=id, name=name, arguments={} if arguments is None else arguments)
    return Reply(text=text, tool_calls=(call,), stop=ReplyStop.TOOL_USE, model="scripted")
