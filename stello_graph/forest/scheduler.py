"""The scheduler: runs what is due, whoever made it due, each task in one process at a time."""

import asyncio
import contextlib
import logging
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass

from stello_graph.errors import (
    Conflict,
    ErrorCode,
    InternalError,
    ModelError,
    NotFound,
    SessionArchived,
    StelloError,
)
from stello_graph.model.memory import ClaimedTask, DueTask, TaskKind
from stello_graph.ports import SpaceStore, Store
from stello_graph.ports.observing import Kind, Observers, sayable

__all__ = ["Run", "Scheduler", "TaskTimes"]

logger = logging.getLogger(__name__)

Run = Callable[[SpaceStore, str], Awaitable[object]]


@dataclass(frozen=True, slots=True)
class TaskTimes:
    """Times of the scheduler, in seconds: see the settings of the same names.

    Attributes:
        most_retry: the longest wait after failures.
        at_once: how many tasks run side by side in this process.
    """

    interval: float = 1.0
    lease: float = 20.0
    retry: float = 5.0
    most_retry: float = 600.0
    at_once: int = 4


class Scheduler:
    """All background tasks of this process, of whatever Space.

    What is due is stored: a task that this process does not come to, or dies over, is another's.
    """

    def __init__(
        self,
        store: Store,
        run: Mapping[TaskKind, Run],
        times: TaskTimes,
        observers: Observers | None = None,
    ) -> None:
        self._store = store
        self._observers = observers or Observers()
        self._run = run
        self._times = times
        self._rung = asyncio.Event()
        self._running: dict[DueTask, asyncio.Task[None]] = {}
        store.on_due(self._rung.set)

    async def keep_house(self) -> None:
        """Looks for tasks that are due for ever, whatever fails meanwhile."""
        while True:
            self._rung.clear()
            try:
                await self._start_due()
            except StelloError as error:
                logger.warning("due tasks could not be looked for: %s", error.message)
            except Exception:
                logger.exception("due tasks could not be looked for")
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(self._times.interval * random.uniform(0.8, 1.2)):
                    await self._rung.wait()

    async def stop(self) -> None:
        """Breaks off what runs here and gives it back, due at once for another process."""
        running = list(self._running.values())
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)

    async def _start_due(self) -> None:
        free = self._times.at_once - len(self._running)
        if free <= 0:
            return
        for due in await self._store.due_tasks(free):
            if due not in self._running:
                self._running[due] = asyncio.create_task(self._run_due(due))

    async def _run_due(self, due: DueTask) -> None:
        try:
            store = self._store.in_space(due.space_id)
            task = await store.claim_task(due, self._times.lease)
            if task is not None:
                ids = {"space": due.space_id}
                with self._observers.watch(
                    Kind.TASK, due.kind, ids=ids, facts={"session": due.session_id}
                ) as work:
                    work.outcome = await self._run_claimed(store, task)
        except StelloError as error:
            logger.warning("%s of %s could not be run: %s", due.kind, due.session_id, error.message)
        except Exception:
            logger.exception("%s of %s could not be run", due.kind, due.session_id)
        else:
            # Its place is free. What failed before it was held is due as it was: that waits for the interval.
            self._rung.set()
        finally:
            del self._running[due]

    async def _run_claimed(self, store: SpaceStore, task: ClaimedTask) -> str:
        """Runs it, and tells how it ended."""
        outcome = "DONE"
        try:
            async with self._renewed(store, task):
                await self._run[task.kind](store, task.session_id)
        except (NotFound, SessionArchived, Conflict) as error:
            logger.info("%s of %s is void: %s", task.kind, task.session_id, error.message)
            outcome = "VOID"
        except StelloError as error:
            await self._failed(store, task, error)
            return "FAILED"
        except asyncio.CancelledError:
            await asyncio.shield(asyncio.create_task(self._released(store, task)))
            raise
        except Exception:
            logger.exception("%s of %s failed", task.kind, task.session_id)
            await self._failed(store, task, InternalError("an error of the server; its log has more"))
            return "FAILED"
        await store.finish_task(task)
        return outcome

    @contextlib.asynccontextmanager
    async def _renewed(self, store: SpaceStore, task: ClaimedTask) -> AsyncIterator[None]:
        """Keeps the lease; where it is lost, what runs is broken off."""
        runs = asyncio.current_task()
        lost = False

        async def renew() -> None:
            nonlocal lost
            while not lost:
                await asyncio.sleep(self._times.lease / 3)
                try:
                    lost = not await store.renew_task(task, self._times.lease)
                except StelloError as error:
                    logger.warning("%s of %s could not be renewed: %s", task.kind, task.session_id, error)
            if runs is not None:
                runs.cancel()

        renewing = asyncio.create_task(renew())
        try:
            yield
        except asyncio.CancelledError:
            if lost and runs is not None and not runs.uncancel():
                raise Conflict("another process took the task over") from None
            raise
        finally:
            renewing.cancel()

    async def _failed(self, store: SpaceStore, task: ClaimedTask, error: StelloError) -> None:
        """Counts a failure; the wait doubles with each, less some by chance; a model may ask for more."""
        longest = min(self._times.retry * 2.0**task.failures, self._times.most_retry)
        delay = max(longest * random.uniform(0.5, 1.0), _asked_for(error))
        logger.warning(
            "%s of %s failed (%s), again in %.0f s: %s",
            task.kind,
            task.session_id,
            error.code,
            delay,
            sayable(error),
        )
        await store.fail_task(task, error.code, _message(error), delay=delay)

    async def _released(self, store: SpaceStore, task: ClaimedTask) -> None:
        try:
            await store.release_task(task)
        except StelloError as error:
            logger.warning("%s of %s could not be given back: %s", task.kind, task.session_id, error.message)


def _asked_for(error: StelloError) -> float:
    """How long the provider asked to wait, up to an hour."""
    asked = error.details.get("retryAfter") if isinstance(error, ModelError) else None
    return min(float(asked), 3_600.0) if isinstance(asked, int | float) else 0.0


def _message(error: StelloError) -> str:
    """What may be told of an error: of our own faults nothing."""
    return "an error of the server; its log has more" if error.code is ErrorCode.INTERNAL else error.message
