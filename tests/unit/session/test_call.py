import asyncio

import pytest

from stello_graph.errors import InternalError, ModelError, ModelRateLimited, ModelRefused, ModelUnavailable
from stello_graph.llm.scripted import Pause, ScriptedLLM
from stello_graph.model.context import ContextMessage, ContextOrigin, ModelRequest, Reply, ReplyStop
from stello_graph.session.call import Backoff, call

REQUEST = ModelRequest(
    model="m",
    messages=(ContextMessage(role="user", content="hi", origin=ContextOrigin.USER_INPUT),),
    max_output_tokens=10,
)
AT_ONCE = Backoff(first=0)


async def test_text_as_it_comes() -> None:
    heard: list[str] = []

    reply = await call(ScriptedLLM([["Hel", "", "lo"]]), REQUEST, on_text=heard.append)

    assert (reply.text, heard) == ("Hello", ["Hel", "lo"])


async def test_a_listener_that_is_awaited() -> None:
    heard: list[str] = []

    async def on_text(text: str) -> None:
        await asyncio.sleep(0)
        heard.append(text)

    await call(ScriptedLLM(["Hello"], chunk_size=2), REQUEST, on_text=on_text)

    assert heard == ["He", "ll", "o"]


async def test_a_retryable_error_is_tried_again() -> None:
    llm = ScriptedLLM([ModelUnavailable("a"), [ModelRateLimited("b", retryAfter=0.0)], "yes"])

    assert (await call(llm, REQUEST, backoff=AT_ONCE)).text == "yes"
    assert llm.requests == [REQUEST] * 3


async def test_attempts_come_to_an_end() -> None:
    llm = ScriptedLLM(default=ModelUnavailable("still away"))

    with pytest.raises(ModelUnavailable, match="still away"):
        await call(llm, REQUEST, attempts=2, backoff=AT_ONCE)

    assert len(llm.requests) == 2


@pytest.mark.parametrize(
    "step",
    [
        ModelRefused("no"),
        ["text", ModelUnavailable("broke off")],
        ModelRateLimited("wait an hour", retryAfter=3600),
    ],
)
async def test_not_tried_again(step: ModelError | list[str | ModelError]) -> None:
    llm = ScriptedLLM([step, "never asked"])

    with pytest.raises(ModelError):
        await call(llm, REQUEST, backoff=AT_ONCE)

    assert len(llm.requests) == 1


async def test_what_was_heard_stays_with_the_caller() -> None:
    heard: list[str] = []

    with pytest.raises(ModelUnavailable):
        await call(ScriptedLLM([["so far", ModelUnavailable("x")]]), REQUEST, on_text=heard.append)

    assert heard == ["so far"]


@pytest.mark.covers("TC13")
async def test_cancellation_passes() -> None:
    pause = Pause()
    llm = ScriptedLLM([["so far", pause], "never asked"])
    task = asyncio.create_task(call(llm, REQUEST, backoff=AT_ONCE))
    await pause.reached.wait()
    task.cancel()

    with pytest.raises(asyncio.CancelledError):
        await task
    assert len(llm.requests) == 1


async def test_a_reply_that_is_not_what_was_streamed() -> None:
    llm = ScriptedLLM([["one thing", Reply(text="another", stop=ReplyStop.END_TURN, model="m")]])

    with pytest.raises(InternalError):
        await call(llm, REQUEST)


@pytest.mark.parametrize(("failures", "longest"), [(1, 0.5), (2, 1.0), (3, 2.0), (9, 8.0)])
def test_the_wait_grows_to_a_limit(failures: int, longest: float) -> None:
    delays = [Backoff().delay(failures) or 0 for _ in range(200)]

    assert all(longest / 2 <= delay <= longest for delay in delays)
    assert len(set(delays)) > 100


def test_what_the_provider_asks_for() -> None:
    backoff = Backoff(first=0.01, patience=30)

    assert backoff.delay(1, 7) == 7
    assert backoff.delay(1, 31) is None


async def test_the_wait_is_waited(monkeypatch: pytest.MonkeyPatch) -> None:
    slept: list[float] = []

    async def sleep(seconds: float) -> None:
        slept.append(seconds)

    monkeypatch.setattr(asyncio, "sleep", sleep)
    await call(ScriptedLLM([ModelRateLimited("x", retryAfter=7), "yes"]), REQUEST)

    assert slept == [7]
