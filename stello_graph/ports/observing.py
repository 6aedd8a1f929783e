"""What the service does, told to those who watch: metrics, logs and traces are listeners of this one seam.

A piece of work has a kind, a name of a small fixed set (such as a query's), numbers and names as facts, and
the ids under which its log lines are found. Never contents: no text, prompt, digest, variable or key.
"""

import asyncio
import logging
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Protocol, TypeAlias

from stello_graph.errors import ModelError, StelloError

__all__ = [
    "Fact",
    "Kind",
    "Observer",
    "Observers",
    "Work",
    "current_ids",
    "identify",
    "outcome_of",
    "sayable",
]

logger = logging.getLogger(__name__)

Fact: TypeAlias = str | int | float


class Kind(StrEnum):
    """Kinds of work, each with what its name and outcome are."""

    REQUEST = "request"
    """An HTTP request. Name: its route. Facts: method, status, and of its operation."""
    SOCKET = "socket"
    """A WebSocket, from its opening to its end. Name: its route. Facts: status."""
    OPERATION = "operation"
    """A GraphQL operation. Name: its type. Outcome: OK or the code of its first error. Facts: operation."""
    TURN = "turn"
    """A turn as long as this process runs it. Outcome: its status. Facts: session, stop."""
    MODEL_CALL = "model_call"
    """One model call. Name: its provider. Outcome: OK or an error's code. Facts: model, tokens by kind."""
    QUERY = "query"
    """A named query. Name: its own. Facts: access (read, write)."""
    TASK = "task"
    """A background task. Name: its kind. Outcome: DONE, VOID, FAILED, GIVEN_BACK. Facts: session."""
    LOOP = "loop"
    """How much later than due the event loop came to something: `seconds`."""


@dataclass(eq=False, slots=True, kw_only=True)
class Work:
    """A piece of work.

    Attributes:
        ids: request, space and turn, as far as they are known.
        parent: what it is a part of, or was begun by.
        outcome: OK, or how it ended; an exception gives its code.
        seconds: how long it took, once it ended.
    """

    kind: Kind
    name: str
    ids: dict[str, str] = field(default_factory=dict)
    facts: dict[str, Fact] = field(default_factory=dict)
    parent: "Work | None" = None
    outcome: str = "OK"
    seconds: float = 0.0
    started: float = field(default_factory=time.perf_counter)


class Observer(Protocol):
    """Watches. It may not wait, and what it raises is logged and goes no further."""

    def begins(self, work: Work) -> None:
        """Work begins; its facts may not be complete yet."""
        ...

    def ends(self, work: Work) -> None:
        """Work has ended."""
        ...


_CURRENT: ContextVar[Work | None] = ContextVar("_CURRENT", default=None)


def current_ids() -> Mapping[str, str]:
    """The ids of what runs here: request, space, turn."""
    work = _CURRENT.get()
    return {} if work is None else work.ids


def identify(**ids: str) -> None:
    """Adds ids to what runs here and to all that it is a part of."""
    work = _CURRENT.get()
    while work is not None:
        work.ids.update(ids)
        work = work.parent


class Observers:
    """All that watch one service."""

    def __init__(self, watching: Iterable[Observer] = ()) -> None:
        self._watching = list(watching)

    def add(self, observer: Observer) -> None:
        """One more, from now on."""
        self._watching.append(observer)

    def begin(
        self,
        kind: Kind,
        name: str,
        *,
        ids: Mapping[str, str] | None = None,
        facts: Mapping[str, Fact] | None = None,
        holds: bool = True,
    ) -> Work:
        """Work that begins, as a part of what runs here. `end` it.

        Args:
            holds: whether what begins here before its end is a part of it.
        """
        parent = _CURRENT.get()
        known = {} if parent is None else parent.ids
        work = Work(
            kind=kind, name=name, ids={**known, **(ids or {})}, facts=dict(facts or {}), parent=parent
        )
        for observer in self._watching:
            try:
                observer.begins(work)
            except Exception:
                logger.exception("an observer failed")
        if holds:
            _CURRENT.set(work)
        return work

    def end(self, work: Work) -> None:
        """Work that has ended."""
        # Not by a token: a generator may be closed in another context than it was begun in.
        if _CURRENT.get() is work:
            _CURRENT.set(work.parent)
        work.seconds = time.perf_counter() - work.started
        self._ended(work)

    @contextmanager
    def watch(
        self,
        kind: Kind,
        name: str,
        *,
        ids: Mapping[str, str] | None = None,
        facts: Mapping[str, Fact] | None = None,
    ) -> Iterator[Work]:
        """Work as long as the block runs; what begins inside is a part of it."""
        work = self.begin(kind, name, ids=ids, facts=facts)
        try:
            yield work
        except BaseException as error:
            work.outcome = outcome_of(error)
            raise
        finally:
            self.end(work)

    async def keep_watch(self, interval: float = 1.0) -> None:
        """Tells for ever how late the event loop is."""
        while True:
            due = time.perf_counter() + interval
            await asyncio.sleep(interval)
            late = max(0.0, time.perf_counter() - due)
            self._ended(Work(kind=Kind.LOOP, name="lag", seconds=late))

    def _ended(self, work: Work) -> None:
        for observer in self._watching:
            try:
                observer.ends(work)
            except Exception:
                logger.exception("an observer failed")


def outcome_of(error: BaseException) -> str:
    """How work ended that raised this: an error's code, or CANCELLED."""
    if isinstance(error, StelloError):
        return error.code
    return "INTERNAL" if isinstance(error, Exception) else "CANCELLED"


def sayable(error: StelloError) -> str:
    """What a log line may say of an error: of a model's only the code, since providers quote requests."""
    return error.code if isinstance(error, ModelError) else error.message
