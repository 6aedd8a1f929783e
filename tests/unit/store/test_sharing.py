"""Reads that are asked at the same moment become one statement; nobody sees of it anything but speed."""

import asyncio
from typing import Any

import pytest

from stello_graph.errors import LimitExceeded, StoreUnavailable
from stello_graph.ports.answers import answering
from stello_graph.store.engine import PING, Row
from stello_graph.store.queries import Query, named
from stello_graph.store.reading import Reading
from stello_graph.store.sharing import SharingEngine
from tests.e2e.waiting import until

CHILDREN, NEWEST = named("topology/children"), named("messages/newest")


class Slow:
    """An engine with a row of so many characters for each key, which answers when it is let.

    Attributes:
        asked: the name and the keys of each statement.
    """

    def __init__(self, **characters: int) -> None:
        self.asked: list[tuple[str, list[str]]] = []
        self.open = asyncio.Event()
        self.closed = False
        self.error: Exception | None = None
        self._characters = characters

    async def read(self, query: Query, counted: Reading | None = None, /, **params: Any) -> list[Row]:
        keys = params.get("keys", [])
        self.asked.append((query.name, keys))
        await self.open.wait()
        if self.error:
            raise self.error
        assert not self.closed
        rows = [{"key": key, "for": len(self.asked)} for key in keys if "gone" not in key]
        if counted is not None:
            counted.of_rows = [self._characters.get(row["key"].partition("/")[2], 1) for row in rows]
            counted.characters = sum(counted.of_rows)
            return [] if counted.is_refused else rows
        return rows

    async def aclose(self) -> None:
        self.closed = True


@pytest.fixture
def slow() -> Slow:
    return Slow(small=10, large=1_000)


@pytest.fixture
def engine(slow: Slow) -> SharingEngine:
    return SharingEngine(slow)  # type: ignore[arg-type]


def children(engine: SharingEngine, *keys: str, first: int = 10) -> Any:
    return engine.read(CHILDREN, space=keys[0].partition("/")[0], keys=list(keys), after=-1, first=first)


def newest(engine: SharingEngine, *keys: str, roles: list[str] | None = None) -> Any:
    return engine.read(NEWEST, keys=list(keys), after=0, before=9, first=5, roles=roles)


async def limited(most: int, engine: SharingEngine, *keys: str) -> list[str]:
    """What an answer is told that may read so many characters."""
    with answering(most // 4):
        rows = await newest(engine, *keys)
    return [row["key"] for row in rows]


async def test_one_statement_for_all(slow: Slow, engine: SharingEngine) -> None:
    """Each caller is told of its own keys, in its own order; what is gone has no row."""
    slow.open.set()

    found = await asyncio.gather(
        children(engine, "s/a", "s/b"), children(engine, "s/c"), children(engine, "s/b", "s/gone", "s/a")
    )

    assert slow.asked == [("topology/children", ["s/a", "s/b", "s/c", "s/gone"])]
    assert [[row["key"] for row in rows] for rows in found] == [["s/a", "s/b"], ["s/c"], ["s/b", "s/a"]]


async def test_what_differs_is_asked_apart(slow: Slow, engine: SharingEngine) -> None:
    """Another page, another Space, other roles and other queries are statements of their own."""
    slow.open.set()

    await asyncio.gather(
        children(engine, "s/a"),
        children(engine, "s/a", first=11),
        engine.read(CHILDREN, space="s", keys=["s/a"], first=-1, after=10),
        children(engine, "t/a"),
        newest(engine, "s/a"),
        newest(engine, "t/a"),
        newest(engine, "s/a", roles=["USER"]),
        newest(engine, "s/b", roles=["USER"]),
        engine.read(PING),
        engine.read(PING),
    )

    assert sorted(slow.asked) == sorted(
        [
            *[("topology/children", ["s/a"])] * 3,
            ("topology/children", ["t/a"]),
            *[("messages/newest", ["s/a"]), ("messages/newest", ["t/a"])],
            ("messages/newest", ["s/a", "s/b"]),
            *[("system/ping", [])] * 2,
        ]
    )


async def test_nobody_gets_what_was_read_before_he_asked(slow: Slow, engine: SharingEngine) -> None:
    """A read that is under way is not joined: it might not see what was written since."""
    first = asyncio.create_task(children(engine, "s/a"))
    await until(lambda: slow.asked, "it is asked")
    second = asyncio.create_task(children(engine, "s/a"))
    await until(lambda: len(slow.asked) == 2, "it is asked again")
    slow.open.set()

    await asyncio.gather(first, second)

    assert [keys for _, keys in slow.asked] == [["s/a"], ["s/a"]]


async def test_a_long_read_waits_for_no_other(slow: Slow, engine: SharingEngine) -> None:
    """What has many keys is asked by itself, and no statement gets more than that by being shared."""
    slow.open.set()
    many = [f"s/{number}" for number in range(200)]

    few = [many[at : at + 20] for at in range(0, 200, 20)]

    await asyncio.gather(children(engine, *many), *(children(engine, *keys) for keys in few))

    sizes = sorted(len(keys) for _, keys in slow.asked)
    assert sizes == [80, 120, 200]


async def test_each_answer_counts_its_own(slow: Slow, engine: SharingEngine) -> None:
    """What others read in the same statement takes nothing from what an answer may still read."""
    slow.open.set()

    async def left(key: str) -> int:
        with answering(1_000) as answer:
            await newest(engine, key)
            return answer.left

    found = await asyncio.gather(*map(left, ["s/small", "s/large", "s/gone"]))
    assert found == [3_990, 3_000, 4_000]
    assert len(slow.asked) == 1


async def test_too_much_for_one_is_not_too_much_for_all(slow: Slow, engine: SharingEngine) -> None:
    """Where all together hold more than one of them may read, each is asked for alone."""
    slow.open.set()

    calls = [
        limited(400, engine, "s/large"),
        limited(4_000, engine, "s/large", "s/small"),
        limited(400, engine, "s/small"),
    ]
    first, *others = await asyncio.gather(*calls, return_exceptions=True)

    assert isinstance(first, LimitExceeded)
    assert others == [["s/large", "s/small"], ["s/small"]]
    assert [keys for _, keys in slow.asked] == [
        ["s/large", "s/small"], ["s/large"], ["s/large", "s/small"], ["s/small"],
    ]  # fmt: skip


async def test_too_much_for_who_asks_alone(slow: Slow, engine: SharingEngine) -> None:
    """It is known from the first statement."""
    slow.open.set()

    with pytest.raises(LimitExceeded):
        await limited(400, engine, "s/large")

    assert len(slow.asked) == 1


async def test_without_an_answer_nothing_is_counted(slow: Slow, engine: SharingEngine) -> None:
    """What the service reads for itself has no limit, and none of those with whom it might be asked."""
    slow.open.set()

    found = await asyncio.gather(newest(engine, "s/large"), limited(4_000, engine, "s/large"))

    assert [len(rows) for rows in found] == [1, 1]
    assert len(slow.asked) == 2


async def test_who_goes_away_takes_nothing_along(slow: Slow, engine: SharingEngine) -> None:
    """A caller that is cancelled, the first even, leaves the others their answer."""
    tasks = [asyncio.create_task(children(engine, key)) for key in ("s/a", "s/b")]
    await until(lambda: slow.asked, "it is asked")
    tasks[0].cancel()
    await asyncio.wait(tasks[:1])
    slow.open.set()

    assert [row["key"] for row in await tasks[1]] == ["s/b"]
    assert tasks[0].cancelled()


async def test_a_failure_is_told_to_all(slow: Slow, engine: SharingEngine) -> None:
    """And the next read is asked anew."""
    slow.open.set()
    slow.error = StoreUnavailable("away")
    calls = [children(engine, key) for key in ("s/a", "s/b")]

    assert await asyncio.gather(*calls, return_exceptions=True) == [slow.error] * 2
    slow.error = None
    assert len(await children(engine, "s/a")) == 1


async def test_who_began_before_it_closes_is_answered(slow: Slow, engine: SharingEngine) -> None:
    """Also where too much for another is read again."""
    calls = [limited(400, engine, "s/large"), limited(4_000, engine, "s/large", "s/small")]
    tasks = [asyncio.create_task(call) for call in calls]
    await until(lambda: slow.asked, "it is asked")
    closing = asyncio.create_task(engine.aclose())
    await asyncio.sleep(0)
    slow.open.set()

    first, second = await asyncio.gather(*tasks, return_exceptions=True)

    assert isinstance(first, LimitExceeded)
    assert second == ["s/large", "s/small"]
    await closing


async def test_a_statement_that_never_ran_is_joined_by_nobody(slow: Slow, engine: SharingEngine) -> None:
    """The end of an event loop cancels it before its first step."""
    slow.open.set()
    gone = asyncio.create_task(children(engine, "s/a"))
    await asyncio.sleep(0)
    (statement,) = engine._tasks
    statement.cancel()
    with pytest.raises(asyncio.CancelledError):
        await gone

    assert [row["key"] for row in await children(engine, "s/a")] == ["s/a"]


async def test_what_was_asked_is_read_before_it_closes(slow: Slow, engine: SharingEngine) -> None:
    """Also where nobody waits for it any more."""
    task = asyncio.create_task(children(engine, "s/a"))
    await asyncio.sleep(0)
    task.cancel()
    closing = asyncio.create_task(engine.aclose())
    await asyncio.wait([task])
    await until(lambda: slow.asked, "it is asked")
    assert not slow.closed
    slow.open.set()

    await closing

    assert slow.closed
