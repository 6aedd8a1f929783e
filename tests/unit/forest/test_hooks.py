"""Hooks: told of everything, waited for by nobody, and their failures are theirs."""

import asyncio
import logging
import threading
from collections.abc import AsyncIterator
from functools import partial
from typing import Any

import pytest

from stello_graph.forest.hook_runner import HookRunner
from stello_graph.forest.hooks import ErrorEvent, ForkEvent, HookEvent, Hooks, MessageEvent, RoundEvent
from stello_graph.ids import new_id
from stello_graph.model.message import Draft, MessageRole

START = RoundEvent("space", "a", "turn", 0)


def message(text: str = "hi") -> MessageEvent:
    return MessageEvent("space", "a", "turn", Draft(id=new_id(), role=MessageRole.USER, content=text))


class Ear:
    """Remembers what it heard."""

    def __init__(self, *, most: int = 10_000) -> None:
        self.heard: list[Any] = []
        self.errors: list[ErrorEvent] = []
        self.most = most

    def __call__(self, event: Any) -> None:
        self.heard.append(event)

    async def later(self, event: Any) -> None:
        await asyncio.sleep(0)
        self.heard.append(event)

    def error(self, event: ErrorEvent) -> None:
        self.errors.append(event)


@pytest.fixture
def ear() -> Ear:
    return Ear()


@pytest.fixture
async def runners() -> AsyncIterator[list[HookRunner]]:
    """Closed at the end of the test."""
    made: list[HookRunner] = []
    yield made
    for runner in made:
        await runner.aclose(0.1)


async def told(*hooks: Any, event: HookEvent = START, name: Any = "on_round_start") -> None:
    """Fires one event and waits for what it does."""
    runner = HookRunner(hooks)
    runner.fire(name, event)
    await settled(runner)
    await runner.aclose()


async def settled(runner: HookRunner) -> None:
    while runner._tasks:
        await asyncio.wait(runner._tasks)


@pytest.mark.covers("HOOK-1")
async def test_plain_and_async_functions(ear: Ear) -> None:
    """Both kinds hear their events, and only theirs."""
    await told(Hooks(on_round_start=ear, on_round_end=ear), Hooks(on_round_start=ear.later))

    assert ear.heard == [START, START]


@pytest.mark.covers("HOOK-1", "W23")
async def test_all_hooks_hear_whatever_the_others_do(ear: Ear) -> None:
    """W23: of several hooks of one name each runs, though those before it fail."""

    def broken(_: Any) -> None:
        raise ValueError("no")

    async def broken_later(_: Any) -> None:
        raise ValueError("no")

    await told(Hooks(on_round_start=broken), Hooks(on_round_start=broken_later), Hooks(on_round_start=ear))

    assert ear.heard == [START]


@pytest.mark.covers("HOOK-1")
async def test_nobody_waits(ear: Ear, runners: list[HookRunner]) -> None:
    """Firing returns before anything ran, and a hook that blocks does not block the loop."""
    free = threading.Event()

    def blocks(event: Any) -> None:
        free.wait(10)
        ear(event)

    async def never(_: Any) -> None:
        await asyncio.Event().wait()

    runner = HookRunner([Hooks(on_round_start=blocks), Hooks(on_round_start=never)])
    runners.append(runner)
    loop = asyncio.get_running_loop()
    before = loop.time()

    runner.fire("on_round_start", START)
    await asyncio.sleep(0.01)

    assert ear.heard == []
    assert loop.time() - before < 5
    free.set()


async def test_plain_functions_hear_events_in_their_order(ear: Ear) -> None:
    """One thread: no event overtakes another."""
    runner = HookRunner(Hooks(on_message_received=ear, on_round_start=ear))
    events = [message(str(n)) if n % 2 else RoundEvent("space", "a", "turn", n) for n in range(50)]

    for event in events:
        runner.fire("on_round_start" if isinstance(event, RoundEvent) else "on_message_received", event)
    await settled(runner)
    await runner.aclose()

    assert ear.heard == events


async def test_async_functions_start_in_the_order_of_events(ear: Ear) -> None:
    async def hears(event: Any) -> None:
        ear(event)

    runner = HookRunner(Hooks(on_round_start=hears))
    events = [RoundEvent("space", "a", "turn", n) for n in range(20)]
    for event in events:
        runner.fire("on_round_start", event)
    await settled(runner)
    await runner.aclose()

    assert ear.heard == events


def raises(error: BaseException) -> Any:
    def hook(_: Any) -> None:
        raise error

    return hook


def raises_later(error: BaseException) -> Any:
    async def hook(_: Any) -> None:
        raise error

    return hook


@pytest.mark.covers("HOOK-1", "W23")
@pytest.mark.parametrize("kind", [raises, raises_later])
@pytest.mark.parametrize(
    "error",
    [
        ValueError("no"),
        SystemExit(3),
        KeyboardInterrupt(),
        asyncio.CancelledError(),
        StopIteration(),
        TimeoutError(),
    ],
    ids=lambda error: type(error).__name__,
)
async def test_whatever_a_hook_raises_is_logged_and_told(
    ear: Ear, caplog: pytest.LogCaptureFixture, kind: Any, error: BaseException
) -> None:
    """With the hook's name, the function's, and where it happened; to all on_error there are."""
    hook = kind(error)
    other = Ear()

    with caplog.at_level(logging.ERROR):
        await told(Hooks(on_round_start=hook, on_error=ear.error), Hooks(on_error=other.error))

    [event] = ear.errors
    assert other.errors == [event]
    assert (event.space_id, event.session_id, event.turn_id) == ("space", "a", "turn")
    assert (event.source, event.hook) == ("hook", "on_round_start")
    assert event.function is not None
    assert event.function.endswith("<locals>.hook")
    assert type(event.error) is type(error) or isinstance(event.error, RuntimeError)
    assert "hook on_round_start" in caplog.text


async def test_a_plain_function_that_returns_an_awaitable(ear: Ear) -> None:
    """What a lambda around an async function returns is awaited, and its failure heard."""

    async def broken(_: Any) -> None:
        raise ValueError("no")

    await told(
        Hooks(on_round_start=lambda event: ear.later(event)),
        Hooks(on_round_start=lambda event: broken(event), on_error=ear.error),
    )

    assert ear.heard == [START]
    assert [type(one.error) for one in ear.errors] == [ValueError]


@pytest.mark.covers("HOOK-1")
async def test_a_failing_on_error_is_logged_and_no_more(caplog: pytest.LogCaptureFixture) -> None:
    """It is not told of itself, without end."""
    calls = []

    async def broken(event: ErrorEvent) -> None:
        calls.append(event)
        raise ValueError("again")

    with caplog.at_level(logging.ERROR):
        await told(Hooks(on_round_start=raises(ValueError("no")), on_error=broken))

    assert len(calls) == 1
    assert "hook on_error" in caplog.text


@pytest.mark.covers("HOOK-2")
async def test_a_provider_chooses_by_space_and_session(ear: Ear) -> None:
    asked = []

    def provide(space_id: str, session_id: str) -> Hooks:
        asked.append((space_id, session_id))
        return Hooks(on_round_start=ear) if session_id == "a" else Hooks()

    await told(provide)
    await told(provide, event=RoundEvent("space", "b", "turn", 0))

    assert asked == [("space", "a"), ("space", "b")]
    assert ear.heard == [START]


@pytest.mark.parametrize("answer", [None, ValueError("no")])
async def test_a_provider_that_fails(ear: Ear, caplog: pytest.LogCaptureFixture, answer: Any) -> None:
    """The other hooks hear of the event, and of the failure, once."""

    def provide(space_id: str, session_id: str) -> Hooks:
        if answer is not None:
            raise answer
        return answer  # type: ignore[return-value]

    with caplog.at_level(logging.ERROR):
        await told(provide, Hooks(on_round_start=ear, on_error=ear.error))

    assert ear.heard == [START]
    [event] = ear.errors
    assert (event.hook, event.source) == (None, "hook")
    assert event.function is not None
    assert event.function.endswith("provide")


async def test_errors_that_are_no_hooks(ear: Ear) -> None:
    """A turn, a consolidation: whoever fails can say so."""
    runner = HookRunner(Hooks(on_error=ear.error))
    failure = ValueError("no")

    runner.error("turn", failure, space_id="space", session_id="a", turn_id="turn")
    runner.error("integrate", failure, space_id="space")
    await settled(runner)
    await runner.aclose()

    assert ear.errors == [
        ErrorEvent("space", "a", "turn", "turn", failure),
        ErrorEvent("space", None, None, "integrate", failure),
    ]


async def test_more_than_can_wait_is_dropped_and_said_once(
    ear: Ear, caplog: pytest.LogCaptureFixture
) -> None:
    """Memory is bounded: a hook that hangs does not gather events without end."""
    free = asyncio.Event()

    async def slow(event: Any) -> None:
        await free.wait()
        ear(event)

    runner = HookRunner(Hooks(on_round_start=slow), most=3)
    for _ in range(10):
        runner.fire("on_round_start", START)
    free.set()
    await settled(runner)
    runner.fire("on_round_start", START)
    await settled(runner)
    await runner.aclose()

    assert len(ear.heard) == 4
    assert caplog.text.count("do not keep up") == 1


class TestClosing:
    async def test_it_waits_for_what_runs(self, ear: Ear) -> None:
        runner = HookRunner([Hooks(on_round_start=ear.later), Hooks(on_round_start=ear)])
        runner.fire("on_round_start", START)

        await runner.aclose()

        assert ear.heard == [START, START]

    async def test_but_not_for_ever(self, ear: Ear) -> None:
        """What does not end in time is cancelled; a function that blocks is left behind."""
        free = threading.Event()
        cancelled = []

        async def never(_: Any) -> None:
            try:
                await asyncio.Event().wait()
            except asyncio.CancelledError:
                cancelled.append(True)
                raise

        runner = HookRunner(
            [Hooks(on_round_start=lambda _: free.wait(30)), Hooks(on_round_start=never, on_error=ear.error)]
        )
        runner.fire("on_round_start", START)
        runner.fire("on_round_start", START)
        await asyncio.wait_for(runner.aclose(0.05), 5)
        free.set()

        assert cancelled == [True, True]
        assert ear.errors == [], "being cancelled by us is no failure"

    async def test_nothing_is_fired_afterwards(self, ear: Ear) -> None:
        runner = HookRunner(Hooks(on_round_start=ear))
        await runner.aclose()

        runner.fire("on_round_start", START)
        await asyncio.sleep(0.01)

        assert ear.heard == []


async def test_the_context_of_the_caller(ear: Ear) -> None:
    """Context variables are there in both kinds, as tracing wants it."""
    import contextvars

    variable: contextvars.ContextVar[str] = contextvars.ContextVar("variable", default="none")
    variable.set("mine")

    async def later(_: Any) -> None:
        ear(variable.get())

    await told(Hooks(on_round_start=lambda _: ear(variable.get())), Hooks(on_round_start=later))

    assert ear.heard == ["mine", "mine"]


async def test_partial_functions_are_named(ear: Ear) -> None:
    async def hook(extra: int, event: Any) -> None:
        raise ValueError(extra)

    await told(Hooks(on_round_start=partial(hook, 7), on_error=ear.error))

    assert [one.function for one in ear.errors] == [f"{__name__}.{hook.__qualname__}"]


def test_hooks_are_frozen_and_hold_functions() -> None:
    hooks = Hooks(on_session_fork=print)

    with pytest.raises(AttributeError):
        hooks.on_session_fork = None  # type: ignore[misc]
    with pytest.raises(TypeError, match="on_error must be a function, not str"):
        Hooks(on_error="log")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Hooks(on_nonsense=print)  # type: ignore[call-arg]


def test_nobody_to_tell() -> None:
    assert not HookRunner()
    assert HookRunner(Hooks(on_session_fork=print))
    HookRunner().fire("on_session_fork", ForkEvent("space", "b", "a"))


async def test_failures_are_told_while_closing(ear: Ear) -> None:
    """A hook that fails while the service closes is told of, too."""

    async def broken(_: Any) -> None:
        await asyncio.sleep(0.01)
        raise ValueError("no")

    runner = HookRunner(Hooks(on_round_start=broken, on_error=ear.error))
    runner.fire("on_round_start", START)
    await runner.aclose()

    assert [one.hook for one in ear.errors] == ["on_round_start"]


async def test_a_hook_that_never_returns(runners: list[HookRunner], ear: Ear) -> None:
    """It is stopped after its time, and `on_error` hears of that; a timeout of its own is told as it is."""
    stopped = asyncio.Event()

    async def forever(_: HookEvent) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            stopped.set()

    async def gives_up(_: HookEvent) -> None:
        raise TimeoutError("of its own")

    hooks = Hooks(on_round_start=forever, on_round_end=gives_up, on_error=ear.error)
    runners.append(HookRunner(hooks, seconds=0.05))
    runners[0].fire("on_round_start", START)
    await settled(runners[0])
    assert stopped.is_set()
    runners[0].fire("on_round_end", START)
    await settled(runners[0])
    assert [str(event.error) for event in ear.errors] == ["it did not end within 0.05 s", "of its own"]
    assert {event.source for event in ear.errors} == {"hook"}
