"""The seam that metrics, logs and traces listen to."""

import asyncio
import time
from collections.abc import AsyncIterator

import pytest

from stello_graph.errors import NotFound
from stello_graph.ports.observing import Kind, Observers, Work, current_ids, identify
from tests.e2e.waiting import until


class Recorder:
    def __init__(self) -> None:
        self.told: list[tuple[str, str, str]] = []
        self.works: list[Work] = []

    def begins(self, work: Work) -> None:
        self.told.append(("begins", work.name, work.outcome))

    def ends(self, work: Work) -> None:
        self.told.append(("ends", work.name, work.outcome))
        self.works.append(work)


class Broken:
    def begins(self, work: Work) -> None:
        raise RuntimeError("broken")

    def ends(self, work: Work) -> None:
        raise RuntimeError("broken")


def test_parts_know_what_they_are_part_of() -> None:
    """What begins inside is a part, and has the ids of the whole; ids learnt later reach the whole."""
    recorder = Recorder()
    observers = Observers([recorder])
    with observers.watch(Kind.REQUEST, "whole", ids={"request": "r"}) as whole:
        with observers.watch(Kind.OPERATION, "part") as part:
            identify(space="s")
        with observers.watch(Kind.QUERY, "next") as following:
            assert current_ids() == {"request": "r", "space": "s"}

    assert part.parent is following.parent is whole
    assert whole.parent is None
    assert whole.ids == part.ids == following.ids == {"request": "r", "space": "s"}
    assert current_ids() == {}
    assert [name for _, name, _ in recorder.told] == ["whole", "part", "part", "next", "next", "whole"]
    assert all(work.seconds >= 0 for work in recorder.works)


@pytest.mark.parametrize(
    ("error", "outcome"),
    [(NotFound("x"), "NOT_FOUND"), (ValueError("x"), "INTERNAL"), (asyncio.CancelledError(), "CANCELLED")],
)
def test_an_error_is_the_outcome(error: BaseException, outcome: str) -> None:
    """By its code; it goes on."""
    recorder = Recorder()
    with pytest.raises(type(error)), Observers([recorder]).watch(Kind.QUERY, "q"):
        raise error

    assert recorder.told[-1] == ("ends", "q", outcome)


def test_a_broken_observer_harms_nothing(caplog: pytest.LogCaptureFixture) -> None:
    """The work goes on, and the other observers hear of it."""
    recorder = Recorder()
    with Observers([Broken(), recorder]).watch(Kind.QUERY, "q"):
        pass

    assert [what for what, *_ in recorder.told] == ["begins", "ends"]
    assert caplog.text.count("an observer failed") == 2


async def test_work_that_goes_on_keeps_its_ids() -> None:
    """A task that outlives the request still has its id; the next request has another."""
    observers, go, seen = Observers(), asyncio.Event(), []

    async def background() -> None:
        await go.wait()
        seen.append(current_ids()["request"])

    with observers.watch(Kind.REQUEST, "one", ids={"request": "1"}):
        task = asyncio.create_task(background())
        await asyncio.sleep(0)
    with observers.watch(Kind.REQUEST, "two", ids={"request": "2"}):
        go.set()
        await task

    assert seen == ["1"]


async def test_a_generator_closed_elsewhere() -> None:
    """Another task may close what one began: the work ends, and neither context keeps it."""
    recorder = Recorder()
    observers = Observers([recorder])

    async def generator() -> AsyncIterator[int]:
        with observers.watch(Kind.OPERATION, "stream"):
            yield 1

    stream = generator()
    await anext(stream)
    await asyncio.create_task(stream.aclose())  # type: ignore[attr-defined]

    assert recorder.told[-1] == ("ends", "stream", "CANCELLED")


async def test_the_loop_is_watched() -> None:
    """A loop that stood still is told as late."""
    recorder = Recorder()
    watching = asyncio.create_task(Observers([recorder]).keep_watch(0.01))
    await asyncio.sleep(0)
    time.sleep(0.2)  # noqa: ASYNC251 - this is what is to be found out
    await until(lambda: recorder.works, "it was told")
    watching.cancel()
    await asyncio.gather(watching, return_exceptions=True)

    assert recorder.works[0].kind is Kind.LOOP
    assert recorder.works[0].seconds > 0.1
