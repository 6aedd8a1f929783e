"""What all turns of a Space share, built once and kept while it is used."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Generic, Protocol, TypeVar

from stello_graph.errors import InternalError

__all__ = ["AgentPool", "Shared"]

logger = logging.getLogger(__name__)


class Shared(Protocol):
    """What is built for a Space: its model client, tools, profiles, hooks, and a snapshot of its settings."""

    @property
    def revision(self) -> int | None:
        """Of the Space's settings that it was built from, None where it does not depend on them."""
        ...

    async def aclose(self) -> None:
        """Frees what was built for it, and nothing else."""
        ...


A = TypeVar("A", bound=Shared)


@dataclass(eq=False)
class _Slot(Generic[A]):
    """One agent, from the start of its building to its end.

    Attributes:
        references: how many use it or wait for it.
        idle_since: when the last of them let go, by the pool's clock.
        retired: nobody new gets it; it is closed when the last lets go.
        closing: it is being closed, or was.
    """

    building: "asyncio.Task[A]"
    references: int = 0
    idle_since: float = 0.0
    retired: bool = False
    closing: bool = False

    @property
    def failed(self) -> bool:
        """Whether building it came to nothing."""
        building = self.building
        return building.done() and (building.cancelled() or building.exception() is not None)


class AgentPool(Generic[A]):
    """One agent for each Space that has turns.

    It is built once, however many ask at the same time; a building that fails is told to all who wait and
    is tried anew by the next. It is dropped after an idle time, never while somebody uses it. Who uses one
    keeps it to the end, though the Space was configured anew meanwhile.
    """

    def __init__(
        self,
        build: Callable[[str], Awaitable[A]],
        *,
        idle: float = 300.0,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """
        Args:
            build: makes the agent of a Space.
            idle: seconds that an unused agent is kept.
            clock: seconds, from any start.
        """
        self._build = build
        self._idle = idle
        self._clock = clock
        self._slots: dict[str, _Slot[A]] = {}
        self._in_use: set[_Slot[A]] = set()
        self._closing: set[asyncio.Task[None]] = set()
        self._closed = False
        self._unused = asyncio.Event()
        self._unused.set()

    def __len__(self) -> int:
        """How many agents there are, built or being built."""
        return len(self._in_use | set(self._slots.values()))

    @asynccontextmanager
    async def agent(self, space_id: str, *, revision: int = 0) -> AsyncIterator[A]:
        """The agent of a Space, for as long as the block runs.

        Args:
            revision: of the Space's settings, where the caller has just read them: an older agent is not
                good enough, as another process may have changed them.

        Raises:
            InternalError: the pool is closed.
            Exception: what building raised.
        """
        slot = self._held(space_id)
        try:
            agent = await _finished(slot)
            if agent.revision is not None and agent.revision < revision:
                self._retire(space_id, slot)
                fresh = self._held(space_id)
                self._release(slot)
                slot = fresh
                agent = await _finished(slot)
            yield agent
        finally:
            self._release(slot)

    def refresh(self, space_id: str) -> None:
        """Who asks from now on gets an agent that is built anew; who has one keeps it."""
        if (slot := self._slots.get(space_id)) is not None:
            self._retire(space_id, slot)

    async def sweep(self) -> None:
        """Closes the agents that nobody has used for the idle time."""
        now = self._clock()
        for space_id, slot in list(self._slots.items()):
            if not slot.references and slot.building.done() and now - slot.idle_since >= self._idle:
                self._retire(space_id, slot)
        await self._until_closed()

    async def keep_house(self) -> None:
        """Sweeps from time to time, until it is cancelled."""
        while True:
            await asyncio.sleep(max(self._idle / 10, 0.01))
            await self.sweep()

    async def aclose(self, seconds: float = 5.0) -> None:
        """Gives out nothing more, waits so long for who uses an agent, and closes all."""
        self._closed = True
        for space_id, slot in list(self._slots.items()):
            self._retire(space_id, slot)
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._unused.wait()
        for slot in list(self._in_use):
            logger.warning("an agent is closed though it is used")
            self._close(slot)
        await self._until_closed(seconds)

    def _held(self, space_id: str) -> _Slot[A]:
        """The slot of the Space, held once more; made where there is none."""
        if self._closed:
            raise InternalError("the server is being stopped")
        slot = self._slots.get(space_id)
        if slot is None or slot.failed:
            slot = _Slot(asyncio.create_task(self._built(space_id), name=f"agent of {space_id}"))
            self._slots[space_id] = slot
            slot.building.add_done_callback(partial(self._forget_failed, space_id, slot))
        slot.references += 1
        self._in_use.add(slot)
        self._unused.clear()
        return slot

    async def _built(self, space_id: str) -> A:
        return await self._build(space_id)

    def _forget_failed(self, space_id: str, slot: _Slot[A], _: "asyncio.Task[A]") -> None:
        """A failure is not kept: whoever asks next tries anew."""
        if slot.failed and self._slots.get(space_id) is slot:
            del self._slots[space_id]

    def _release(self, slot: _Slot[A]) -> None:
        slot.references -= 1
        if slot.references:
            return
        slot.idle_since = self._clock()
        self._leave(slot)
        if slot.retired:
            self._close(slot)

    def _retire(self, space_id: str, slot: _Slot[A]) -> None:
        if self._slots.get(space_id) is slot:
            del self._slots[space_id]
        if slot.retired:
            return
        slot.retired = True
        if not slot.references:
            self._close(slot)

    def _close(self, slot: _Slot[A]) -> None:
        """Closes it once, in a task of its own, which no caller's cancellation reaches."""
        self._leave(slot)
        if slot.closing:
            return
        slot.closing = True
        if self._closed:
            slot.building.cancel()
        task = asyncio.create_task(_ended(slot))
        self._closing.add(task)
        task.add_done_callback(self._closing.discard)

    def _leave(self, slot: _Slot[A]) -> None:
        self._in_use.discard(slot)
        if not self._in_use:
            self._unused.set()

    async def _until_closed(self, seconds: float | None = None) -> None:
        if self._closing:
            await asyncio.wait(self._closing, timeout=seconds)


async def _finished(slot: _Slot[A]) -> A:
    """What is being built, when it is: one caller's cancellation is not the others'."""
    try:
        return await asyncio.shield(slot.building)
    except asyncio.CancelledError:
        if slot.building.cancelled():
            raise InternalError("the server is being stopped") from None
        raise


async def _ended(slot: _Slot[A]) -> None:
    try:
        agent = await slot.building
    except (Exception, asyncio.CancelledError):
        # Who waited for it was told.
        return
    try:
        await agent.aclose()
    except Exception:
        logger.exception("an agent could not be closed")
