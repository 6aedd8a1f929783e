"""The pool of agents: built once, kept while used, dropped when idle, replaced when out of date."""

import asyncio
import logging
from collections.abc import AsyncIterator
from typing import Any

import pytest

from stello_graph.errors import InternalError
from stello_graph.forest.agents import AgentPool


class Clock:
    """A clock that the test winds."""

    def __init__(self) -> None:
        self.now = 1000.0

    def __call__(self) -> float:
        return self.now


class Made:
    """An agent that remembers its end."""

    def __init__(self, space_id: str, revision: int = 0) -> None:
        self.space_id = space_id
        self.revision = revision
        self.closed = 0

    async def aclose(self) -> None:
        self.closed += 1


class Workshop:
    """Builds agents, slowly where the test says so."""

    def __init__(self) -> None:
        self.made: list[Made] = []
        self.started = 0
        self.revision = 0
        self.failures: list[Exception] = []
        self.free = asyncio.Event()
        self.free.set()

    async def build(self, space_id: str) -> Made:
        self.started += 1
        revision = self.revision
        await self.free.wait()
        if self.failures:
            raise self.failures.pop()
        self.made.append(Made(space_id, revision))
        return self.made[-1]


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def shop() -> Workshop:
    return Workshop()


@pytest.fixture
async def pool(shop: Workshop, clock: Clock) -> AsyncIterator[AgentPool[Made]]:
    pool: AgentPool[Made] = AgentPool(shop.build, idle=300, clock=clock)
    yield pool
    await pool.aclose(0.1)


@pytest.mark.covers("AGENT-1", "W41")
async def test_many_at_once_are_one_building(pool: AgentPool[Made], shop: Workshop) -> None:
    """All wait for the same one, and get it."""
    shop.free.clear()

    async def use() -> Made:
        async with pool.agent("a") as agent:
            await asyncio.sleep(0)
            return agent

    tasks = [asyncio.create_task(use()) for _ in range(20)]
    await asyncio.sleep(0.01)
    shop.free.set()
    agents = await asyncio.gather(*tasks)

    assert shop.started == 1
    assert set(agents) == set(shop.made)
    async with pool.agent("a") as again, pool.agent("b") as other:
        assert again is agents[0]
        assert other.space_id == "b"


@pytest.mark.covers("AGENT-1")
async def test_a_failed_building_is_told_to_all_and_kept_by_none(
    pool: AgentPool[Made], shop: Workshop
) -> None:
    shop.failures = [ValueError("no store")]
    shop.free.clear()

    async def use() -> Made:
        async with pool.agent("a") as agent:
            return agent

    tasks = [asyncio.create_task(use()) for _ in range(3)]
    await asyncio.sleep(0.01)
    shop.free.set()
    answers = await asyncio.gather(*tasks, return_exceptions=True)

    assert [str(answer) for answer in answers] == ["no store"] * 3
    assert len(pool) == 0
    assert (await use()).space_id == "a"
    assert shop.started == 2


async def test_who_asks_in_the_moment_of_a_failure_tries_anew(pool: AgentPool[Made], shop: Workshop) -> None:
    """Even before the pool has taken notice."""
    shop.failures = [ValueError("no")]
    shop.free.clear()
    held = pool.agent("a")
    waiting = asyncio.create_task(held.__aenter__())
    await asyncio.sleep(0)
    [slot] = pool._slots.values()
    answers: list[Made] = []

    async def use() -> None:
        async with pool.agent("a") as agent:
            answers.append(agent)

    building = slot.building
    shop.free.set()
    while not building.done():  # noqa: ASYNC110
        await asyncio.sleep(0)
    await asyncio.gather(use(), use())
    with pytest.raises(ValueError, match="no"):
        await waiting

    assert answers == [shop.made[0]] * 2


async def test_one_callers_cancellation_is_not_the_others(pool: AgentPool[Made], shop: Workshop) -> None:
    shop.free.clear()

    async def use() -> Made:
        async with pool.agent("a") as agent:
            return agent

    first, second = asyncio.create_task(use()), asyncio.create_task(use())
    await asyncio.sleep(0.01)
    first.cancel()
    await asyncio.sleep(0)
    shop.free.set()

    assert await second is shop.made[0]
    with pytest.raises(asyncio.CancelledError):
        await first
    assert shop.started == 1


@pytest.mark.covers("AGENT-1")
async def test_an_idle_agent_is_dropped(pool: AgentPool[Made], shop: Workshop, clock: Clock) -> None:
    """After the idle time, counted from the end of its last use."""
    async with pool.agent("a"):
        clock.now += 1000
    await pool.sweep()
    clock.now += 299
    async with pool.agent("a") as agent:
        pass
    clock.now += 299
    await pool.sweep()
    assert (len(pool), agent.closed) == (1, 0)

    clock.now += 1
    await pool.sweep()

    assert (len(pool), agent.closed) == (0, 1)
    async with pool.agent("a") as fresh:
        assert fresh is not agent


@pytest.mark.covers("AGENT-1", "W24", "W41")
async def test_a_used_agent_is_never_dropped(pool: AgentPool[Made], clock: Clock) -> None:
    """However long it is used, and by how many."""
    async with pool.agent("a") as agent:
        async with pool.agent("a"):
            clock.now += 10_000
            await pool.sweep()
        clock.now += 10_000
        await pool.sweep()
        assert agent.closed == 0
        async with pool.agent("a") as same:
            assert same is agent


@pytest.mark.covers("W24")
async def test_a_user_that_fails_lets_go(pool: AgentPool[Made], clock: Clock) -> None:
    with pytest.raises(ZeroDivisionError):
        async with pool.agent("a") as agent:
            raise ZeroDivisionError
    clock.now += 300

    await pool.sweep()

    assert agent.closed == 1


async def test_a_refreshed_agent_serves_its_users_to_the_end(pool: AgentPool[Made], shop: Workshop) -> None:
    """New turns see the new settings, running ones keep theirs; the old one is closed after the last."""
    async with pool.agent("a") as old:
        async with pool.agent("a") as same:
            pool.refresh("a")
            async with pool.agent("a") as new:
                assert (same is old, new is old) == (True, False)
        await asyncio.sleep(0)
        assert (old.closed, len(pool)) == (0, 2)
    await pool.sweep()
    assert (old.closed, new.closed, len(pool)) == (1, 0, 1)


async def test_refreshing_what_nobody_uses(pool: AgentPool[Made]) -> None:
    """It is closed at once; a Space without an agent is refreshed for nothing."""
    async with pool.agent("a") as agent:
        pass

    pool.refresh("a")
    pool.refresh("a")
    pool.refresh("unknown")
    await pool.sweep()

    assert (agent.closed, len(pool)) == (1, 0)


async def test_refreshing_while_it_is_built(pool: AgentPool[Made], shop: Workshop) -> None:
    """What is being built may have read the old settings: who asks afterwards gets another."""
    shop.free.clear()

    async def use() -> Made:
        async with pool.agent("a") as agent:
            return agent

    before = asyncio.create_task(use())
    await asyncio.sleep(0.01)
    pool.refresh("a")
    after = asyncio.create_task(use())
    await asyncio.sleep(0.01)
    shop.free.set()

    assert await before is not await after
    await pool.sweep()
    assert [agent.closed for agent in shop.made] == [1, 0]


async def test_what_another_process_configured(pool: AgentPool[Made], shop: Workshop) -> None:
    """Who has read newer settings gets an agent that is built from them, together with all like it."""
    async with pool.agent("a", revision=0) as old:
        shop.revision = 3

        async def use(revision: int) -> Made:
            async with pool.agent("a", revision=revision) as agent:
                await asyncio.sleep(0)
                return agent

        agents = await asyncio.gather(*(use(3) for _ in range(5)), use(2))
        assert len(set(agents)) == 1
        assert agents[0].revision == 3
        assert await use(0) is agents[0]
    await pool.sweep()

    assert (shop.started, old.closed) == (2, 1)


async def test_an_agent_that_is_older_for_ever_is_built_once_more_only(
    pool: AgentPool[Made], shop: Workshop
) -> None:
    """Where the store lags behind, what it gives is used."""
    async with pool.agent("a", revision=7) as agent:
        assert agent.revision == 0

    assert shop.started == 2


class TestClosing:
    @pytest.mark.covers("W24")
    async def test_it_closes_all_once(self, shop: Workshop, clock: Clock) -> None:
        pool: AgentPool[Made] = AgentPool(shop.build, clock=clock)
        for space_id in ("a", "b"):
            async with pool.agent(space_id):
                pass
        await pool.aclose()
        await pool.aclose()

        assert [agent.closed for agent in shop.made] == [1, 1]
        with pytest.raises(InternalError, match="stopped"):
            async with pool.agent("a"):
                pass

    async def test_it_waits_for_who_uses_one(self, shop: Workshop, clock: Clock) -> None:
        pool: AgentPool[Made] = AgentPool(shop.build, clock=clock)
        async with pool.agent("a") as agent:
            closing = asyncio.create_task(pool.aclose())
            await asyncio.sleep(0.01)
            assert agent.closed == 0
        await closing
        assert agent.closed == 1

    async def test_but_not_for_ever(self, shop: Workshop, caplog: pytest.LogCaptureFixture) -> None:
        """It is closed once, though its user lets go later."""
        pool: AgentPool[Made] = AgentPool(shop.build)
        async with pool.agent("a") as agent:
            await pool.aclose(0.01)
            assert agent.closed == 1
        await asyncio.sleep(0.01)

        assert agent.closed == 1
        assert "though it is used" in caplog.text

    async def test_while_one_is_built(self, shop: Workshop) -> None:
        """A building that hangs is given up, and who waits for it is told."""
        shop.free.clear()
        pool: AgentPool[Made] = AgentPool(shop.build)

        async def use() -> Any:
            async with pool.agent("a") as agent:
                return agent

        waiting = asyncio.create_task(use())
        await asyncio.sleep(0.01)
        await asyncio.wait_for(pool.aclose(0.01), 5)

        with pytest.raises(InternalError, match="stopped"):
            await waiting

    async def test_an_agent_that_cannot_be_closed(
        self, pool: AgentPool[Made], caplog: pytest.LogCaptureFixture
    ) -> None:
        """The log has it; the others are closed."""
        async with pool.agent("a") as broken, pool.agent("b") as whole:

            async def fail() -> None:
                raise OSError("stuck")

            broken.aclose = fail  # type: ignore[method-assign]
        with caplog.at_level(logging.ERROR):
            await pool.aclose()

        assert "could not be closed" in caplog.text
        assert whole.closed == 1


async def test_it_keeps_house_by_itself(shop: Workshop) -> None:
    """With a real clock and a short idle time."""
    pool: AgentPool[Made] = AgentPool(shop.build, idle=0.02)
    house = asyncio.create_task(pool.keep_house())
    async with pool.agent("a") as agent:
        await asyncio.sleep(0.05)
        assert agent.closed == 0
    async with asyncio.timeout(5):
        while not agent.closed:  # noqa: ASYNC110
            await asyncio.sleep(0.01)
    house.cancel()
    await pool.aclose()

    assert len(pool) == 0
