"""Fires hooks, and lets nothing that they do come back."""

import asyncio
import inspect
import logging
from collections.abc import Awaitable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Any

from stello_graph.errors import Conflict, NotFound, SessionArchived
from stello_graph.forest.hook_thread import HookThread, Outcome
from stello_graph.forest.hooks import ErrorEvent, Hook, HookEvent, HookName, Hooks, HooksProvider, providers

__all__ = ["HookRunner"]

logger = logging.getLogger(__name__)

_STUBBORN = 1.0
"""Seconds that a hook is given to be cancelled."""


class HookRunner:
    """Tells an application's hooks of events. Nobody waits for them, and their failures are theirs.

    Several Hooks may be given: all of them hear of each event, and all `on_error` of each failure.
    """

    def __init__(
        self,
        hooks: HooksProvider | Sequence[HooksProvider] = (),
        *,
        most: int = 10_000,
        seconds: float = 300.0,
    ) -> None:
        """
        Args:
            seconds: how long an async hook may take; one in the thread cannot be stopped.
            most: hooks that may wait or run at once; beyond that events are dropped, and the log says so.
        """
        self._providers = providers(hooks)
        self._most = most
        self._seconds = seconds
        self._tasks: set[asyncio.Task[None]] = set()
        self._thread = HookThread("stello-graph hooks")
        self._closed = False
        self._ended = False
        self._dropping = False

    def __bool__(self) -> bool:
        """Whether there is anybody to tell."""
        return bool(self._providers)

    def fire(self, name: HookName, event: HookEvent | ErrorEvent) -> None:
        """Starts all hooks of that name and returns at once."""
        if not self._closed:
            self._tell(name, event)

    def error(
        self,
        source: str,
        error: BaseException,
        *,
        space_id: str,
        session_id: str | None = None,
        turn_id: str | None = None,
    ) -> None:
        """Tells `on_error` of a failure that is not a hook's. See `ErrorEvent`."""
        self.fire("on_error", ErrorEvent(space_id, session_id, turn_id, source, error))

    @contextmanager
    def failures(self, source: str, space_id: str, session_id: str) -> Iterator[None]:
        """Tells `on_error` of what fails inside of the block, but not of what only came too late."""
        try:
            yield
        except (NotFound, SessionArchived, Conflict):
            raise
        except Exception as error:
            self.error(source, error, space_id=space_id, session_id=session_id)
            raise

    async def aclose(self, seconds: float = 5.0) -> None:
        """Takes no more events, waits so long for what runs, and cancels the rest."""
        self._closed = True
        loop = asyncio.get_running_loop()
        deadline = loop.time() + seconds
        try:
            while self._tasks and loop.time() < deadline:
                await asyncio.wait(self._tasks, timeout=deadline - loop.time())
            self._ended = True
            for task in self._tasks:
                task.cancel()
            if self._tasks:
                await asyncio.wait(self._tasks, timeout=_STUBBORN)
            if self._tasks:
                logger.warning("%d hooks do not end", len(self._tasks))
        finally:
            self._thread.stop()

    def _tell(self, name: HookName, event: HookEvent | ErrorEvent) -> None:
        for hooks in self._hooks(event):
            if (hook := hooks.named(name)) is not None:
                self._start(name, hook, event)

    def _hooks(self, event: HookEvent | ErrorEvent) -> list[Hooks]:
        found: list[Hooks] = []
        for provider in self._providers:
            if isinstance(provider, Hooks):
                found.append(provider)
                continue
            try:
                hooks = provider(event.space_id, event.session_id or "")
                if not isinstance(hooks, Hooks):
                    raise TypeError(f"not Hooks but {type(hooks).__name__}")
                found.append(hooks)
            except Exception as error:
                self._failed(None, _name_of(provider), error, event)
        return found

    def _start(self, name: HookName, hook: Hook[Any], event: HookEvent | ErrorEvent) -> None:
        if self._ended:
            return
        if len(self._tasks) >= self._most:
            if not self._dropping:
                logger.error("hooks do not keep up: %s and further events are dropped", name)
            self._dropping = True
            return
        self._dropping = False
        # A plain function is queued now, so that the thread gets the events in their order.
        queued = None if _is_async(hook) else self._thread.run(partial(hook, event))
        task = asyncio.create_task(self._run(name, hook, event, queued), name=f"hook {name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(
        self,
        name: HookName,
        hook: Hook[Any],
        event: HookEvent | ErrorEvent,
        queued: "asyncio.Future[Outcome] | None",
    ) -> None:
        try:
            outcome = Outcome(hook(event)) if queued is None else await queued
            if outcome.error is None and inspect.isawaitable(outcome.value):
                await self._in_time(outcome.value)
            failure = outcome.error
        except asyncio.CancelledError as error:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            failure = error
        except GeneratorExit:
            raise
        except BaseException as error:
            failure = error
        if failure is not None:
            self._failed(name, _name_of(hook), failure, event)

    async def _in_time(self, work: Awaitable[object]) -> None:
        """Awaits it, and breaks it off where it takes too long."""
        timer = asyncio.timeout(self._seconds)
        try:
            async with timer:
                await work
        except TimeoutError:
            if not timer.expired():
                raise
            raise TimeoutError(f"it did not end within {self._seconds:g} s") from None

    def _failed(
        self, name: HookName | None, function: str, error: BaseException, event: HookEvent | ErrorEvent
    ) -> None:
        """Logs it and tells `on_error`, unless that is what failed."""
        logger.error("hook %s (%s) failed", name or "provider", function, exc_info=error)
        if isinstance(event, ErrorEvent):
            return
        turn_id = getattr(event, "turn_id", None)
        told = ErrorEvent(event.space_id, event.session_id, turn_id, "hook", error, name, function)
        self._tell("on_error", told)


def _is_async(hook: Hook[Any]) -> bool:
    return inspect.iscoroutinefunction(hook) or inspect.iscoroutinefunction(getattr(hook, "__call__", None))  # noqa: B004


def _name_of(function: object) -> str:
    inner = getattr(function, "func", function)
    name = getattr(inner, "__qualname__", type(inner).__qualname__)
    return f"{getattr(inner, '__module__', None) or type(inner).__module__}.{name}"
