"""Processes that can be killed between any two steps: services on one database."""

import asyncio
import contextlib
from collections.abc import Coroutine
from typing import Any, TypeVar

from stello_graph.model.values import StoreState
from stello_graph.ports import LLM
from stello_graph.service import StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.engine import Engine, Row
from stello_graph.store.queries import Query
from stello_graph.store.reading import Reading
from stello_graph.store.store import GraphStore
from stello_graph.tools import Tool

__all__ = ["Killed", "MortalEngine", "Process"]


T = TypeVar("T")


class Killed(BaseException):
    """What a killed process does from then on: nothing, not even to clean up."""


class MortalEngine:
    """An engine that reaches its database until its process is killed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._left: int | None = None
        self._committed = False
        self.died = asyncio.Event()

    def kill_at(self, writes: int, *, committed: bool) -> None:
        """Kills at the so many-th next write: before it, or once it is committed, before it is answered."""
        self._left, self._committed = writes, committed

    def kill(self) -> None:
        """Kills now, if it is to be killed at all."""
        if self._left is not None:
            self.died.set()

    async def read(self, query: Query, counted: Reading | None = None, /, **params: Any) -> list[Row]:
        """See Engine."""
        self._live()
        rows = await self._engine.read(query, counted, **params)
        self._live()
        return rows

    async def write(self, query: Query, **params: Any) -> list[Row]:
        """See Engine."""
        self._live()
        last = False
        if self._left is not None:
            self._left -= 1
            last = self._left <= 0
        if last and not self._committed:
            self.died.set()
        self._live()
        rows = await self._engine.write(query, **params)
        if last:
            self.died.set()
        self._live()
        return rows

    async def migrate(self) -> list[str]:
        """See Engine."""
        return []

    async def pending_migrations(self) -> list[str]:
        """See Engine."""
        return []

    async def state(self) -> StoreState:
        """See Engine."""
        return await self._engine.state()

    async def ping(self) -> str:
        """See Engine."""
        return await self._engine.ping()

    async def aclose(self) -> None:
        """The database stays open, for the other processes."""

    def _live(self) -> None:
        if self.died.is_set():
            raise Killed


class Process:
    """One service, and its engine."""

    def __init__(self, engine: Engine, llm: LLM, tools: list[Tool], space_id: str, lease: float) -> None:
        self.engine = MortalEngine(engine)
        settings = Settings(
            grace=0.0,
            lease_seconds=lease,
            renew_seconds=lease / 12,
            janitor_seconds=lease / 6,
            follow_seconds=0.02,
            tool_seconds=0.3,
        )
        self.graph = StelloGraph(GraphStore(self.engine), llm, settings, tools=tools)
        self.space = self.graph.space(space_id)

    @property
    def dead(self) -> bool:
        """Whether it was killed."""
        return self.engine.died.is_set()

    async def do(self, work: Coroutine[Any, Any, T]) -> T:
        """What the process does while it lives.

        Raises:
            Killed: it died meanwhile.
        """
        task, death = asyncio.create_task(work), asyncio.create_task(self.engine.died.wait())
        try:
            await asyncio.wait({task, death}, return_when=asyncio.FIRST_COMPLETED)
            if not task.done():
                raise Killed
            return task.result()
        finally:
            death.cancel()
            task.cancel()

    async def open(self) -> None:
        """Starts it."""
        await self.graph.open()

    async def aclose(self) -> None:
        """Ends it in good order, or what is left of it."""
        if not self.dead:
            async with asyncio.timeout(20):
                with contextlib.suppress(Killed):
                    await self.graph.aclose()
