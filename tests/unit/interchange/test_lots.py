"""What is read of a file, some conversations at a time, and ahead of what is written."""

import asyncio
import gc
import io
import json
import threading
from collections.abc import Iterator
from functools import partial

import pytest

from stello_graph.interchange import lots as module
from stello_graph.interchange.background import Ahead, Overlapping
from stello_graph.interchange.intake import Intake
from stello_graph.interchange.lots import lots
from stello_graph.interchange.plan import ImportedConversation
from tests.unit.interchange.exports import conversation, reply, user


def names(*ids: str, words: int = 1) -> list[list[str]]:
    """Which conversations of two messages come together; an id of none stands for what is none."""
    talks = [
        conversation((None, user("x" * words)), ("x" * words, reply("y")), id=id) if id else {} for id in ids
    ]
    intake = Intake.of_stream(io.BytesIO(json.dumps(talks).encode()), max_bytes=1 << 30)
    return [
        [one.id.removeprefix("chatgpt:") if isinstance(one, ImportedConversation) else "" for one in lot]
        for lot in lots(intake, 1 << 30)
    ]


def test_what_comes_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """All, in order, but for a second conversation of one id, up to so many things, messages and bytes."""
    assert names("a", "b", "", "c") == [["a", "b", "", "c"]]
    assert names("a", "b", "a", "b", "b") == [["a", "b"], ["a", "b"], ["b"]]
    assert names(*map(str, range(1_201))) == [
        [str(number) for number in range(first, min(first + 500, 1_201))] for first in (0, 500, 1_000)
    ]
    with monkeypatch.context() as few:
        few.setattr(module, "MOST_MESSAGES", 5)
        assert names(*"abcde") == [["a", "b"], ["c", "d"], ["e"]]
        few.setattr(module, "MOST_MESSAGES", 1)
        assert names(*"ab") == [["a"], ["b"]]
    few_bytes = names(*"abcdefgh", words=400_000)
    assert 1 < len(few_bytes) < 8
    assert [id for lot in few_bytes for id in lot] == [*"abcdefgh"]


async def test_ahead() -> None:
    """The next one is made while the one before it is used, no more than that; a fault comes in its place."""
    made = [threading.Event() for _ in range(3)]

    def items() -> Iterator[int]:
        for number, one in enumerate(made):
            one.set()
            yield number
        raise RuntimeError("no more")

    found = []

    async def use() -> None:
        async with Ahead(items()) as coming:
            while (number := await coming.take()) is not None:
                assert not any(one.is_set() for one in made[number + 1 :])
                coming.begin()
                found.append(number)
                for one in made[: number + 2]:
                    assert await asyncio.to_thread(one.wait, 10)
                assert not any(one.is_set() for one in made[number + 2 :])

    with pytest.raises(RuntimeError, match="no more"):
        await use()
    assert found == [0, 1, 2]


async def test_ahead_that_is_closed_early() -> None:
    """What is being made then is stopped, and has ended."""
    begun, stopped, ended = [threading.Event() for _ in range(3)]

    def items() -> Iterator[str]:
        yield "first"
        begun.set()
        assert stopped.wait(10)
        ended.set()

    async with Ahead(items(), stopped.set) as coming:
        assert await coming.take() == "first"
        coming.begin()
        assert await asyncio.to_thread(begun.wait, 10)
    assert ended.is_set()


async def test_overlapping() -> None:
    """Each is prepared while the one before it is done, no more than that, and done after it."""
    prepared = [asyncio.Event() for _ in range(4)]
    done: list[int] = []

    async def work(number: int, after: asyncio.Future[None]) -> None:
        assert not any(one.is_set() for one in prepared[number:])
        prepared[number].set()
        if number < 3:
            await asyncio.wait_for(prepared[number + 1].wait(), 10)
        await after
        assert done == list(range(number))
        done.append(number)

    async with Overlapping() as works:
        for number in range(4):
            await works.begin(partial(work, number))
            assert len(done) >= number
    assert done == [0, 1, 2, 3]


async def test_overlapping_where_one_fails(caplog: pytest.LogCaptureFixture) -> None:
    """It is told once, what is prepared is not done, and what fails beside it leaves nothing in the log."""
    done: list[str] = []

    async def work(name: str, after: asyncio.Future[None]) -> None:
        if name == "x":
            raise RuntimeError("before it looks")
        await after
        if name == "b":
            raise RuntimeError(name)
        done.append(name)

    async def fault(names: str) -> str:
        try:
            async with Overlapping() as works:
                for name in names:
                    await works.begin(partial(work, name))
        except RuntimeError as error:
            return str(error)
        return ""

    for names in ("abcd", "ab"):
        done.clear()
        assert await fault(names) == "b"
        assert done == ["a"]
    assert await fault("abx") == "before it looks"
    await asyncio.sleep(0)
    gc.collect()
    assert not caplog.records


async def test_overlapping_where_something_else_fails() -> None:
    """What has begun is done: nothing that was found before a fault is lost."""
    done = asyncio.Event()

    async def work(after: asyncio.Future[None]) -> None:
        await after
        await asyncio.sleep(0.01)
        done.set()

    async def use() -> None:
        async with Overlapping() as works:
            await works.begin(work)
            raise RuntimeError("unreadable")

    with pytest.raises(RuntimeError, match="unreadable"):
        await use()
    assert done.is_set()


async def test_overlapping_that_is_cancelled() -> None:
    """Nothing goes on."""
    begun, ended = asyncio.Event(), list[str]()

    async def work(name: str, after: asyncio.Future[None]) -> None:
        try:
            await after
            begun.set()
            await asyncio.Event().wait()
        finally:
            await asyncio.sleep(0)
            ended.append(name)

    async def use() -> None:
        async with Overlapping() as works:
            for name in "abc":
                await works.begin(partial(work, name))

    using = asyncio.create_task(use())
    await begun.wait()
    using.cancel()
    with pytest.raises(asyncio.CancelledError):
        await using
    assert sorted(ended) == ["a", "b"]
