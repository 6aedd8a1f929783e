"""A thread for functions that may block."""

import asyncio
import contextlib
import contextvars
import queue
import threading
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

__all__ = ["HookThread", "Outcome"]


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a function returned or raised."""

    value: object = None
    error: BaseException | None = None


_Job: TypeAlias = Callable[[], None]


class HookThread:
    """Runs functions one after the other in one thread, which begins with the first of them.

    It is a daemon: a function that never returns does not keep the process from ending, as the threads
    of an executor would.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._jobs: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._thread: threading.Thread | None = None

    def run(self, function: Callable[[], object]) -> "asyncio.Future[Outcome]":
        """Runs it in the caller's context variables. The future holds what it returned or raised."""
        if self._thread is None:
            self._thread = threading.Thread(target=self._work, name=self._name, daemon=True)
            self._thread.start()
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Outcome] = loop.create_future()
        context = contextvars.copy_context()

        def job() -> None:
            if future.cancelled():
                return
            outcome = context.run(_outcome, function)
            # A loop that was closed meanwhile has nobody who waits.
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(_settle, future, outcome)

        self._jobs.put(job)
        return future

    def stop(self) -> None:
        """Ends the thread after what waits; what was cancelled is not run."""
        self._jobs.put(None)

    def _work(self) -> None:
        while (job := self._jobs.get()) is not None:
            job()


def _outcome(function: Callable[[], object]) -> Outcome:
    try:
        return Outcome(function())
    except BaseException as error:
        return Outcome(error=error)


def _settle(future: "asyncio.Future[Outcome]", outcome: Outcome) -> None:
    if not future.done():
        future.set_result(outcome)
