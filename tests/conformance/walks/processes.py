"""Processes that can be killed between any two steps: services on one database, each with an engine of its own."""

import asyncio
import contextlib
from typing import Any

from stello_graph.ports import LLM
from stello_graph.service import StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.engine import Engine, Row
from stello_graph.store.queries import Query
from stello_graph.store.store import GraphStore
from stello_graph.tools import Tool

__all__ = ["Killed", "MortalEngine", "Process"]


class Killed(BaseException):
    """What a killed process does from then on: nothing, not even to clean up."""


class MortalEngine:
    """An engine that reaches its database until its process is killed."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._left: int | None = None
        self._committed = False
        self.dead = False

    def kill_at(self, writes: int, *, committed: bool) -> None:
        """Kills at the so many-th next write: before it, or once it is committed but before it is answered."""
        self._left, self._committed = writes, committed

    @property
    def doomed(self) -> bool:
        """Whether it is to be killed."""
        return self._left is not None

    async def read(self, query: Query, **params: Any) -> list[Row]:
        """See Engine."""
        self._live()
        rows = await self._engine.read(query, **params)
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
            self.dead = True
        self._live()
        rows = await self._engine.write(query, **params)
        self.dead = self.dead or last
        self._live()
        return rows

    async def migrate(self) -> list[str]:
        """See Engine."""
        return []

    async def pending_migrations(self) -> list[str]:
        """See Engine."""
        return []

    async def ping(self) -> str:
        """See Engine."""
        return await self._engine.ping()

    async def aclose(self) -> None:
        """The database stays open, for the other processes."""

    def _live(self) -> None:
        if self.dead:
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
        return self.engine.dead

    async def open(self) -> None:
        """Starts it."""
        await self.graph.open()

    async def aclose(self) -> None:
        """Ends it in good order, or what is left of it."""
        if not self.dead:
            async with asyncio.timeout(20):
                with contextlib.suppress(Killed):
                    await self.graph.aclose()
