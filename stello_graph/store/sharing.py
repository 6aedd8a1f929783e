"""Reads that are asked at the same moment become one.

Under load most of what a small read costs is the way to the database. So what is asked of one shared query
in one turn of the event loop, by whoever asks, is one statement with the keys of all, where they differ in
nothing else. Everyone is given the rows of its own keys, and what they hold counts for its own answer.

Whatever is asked ends, though its caller may have gone: it may be for others too, and nobody would know
whether a write that has begun is done. Only the end of the event loop ends it before.
"""

import asyncio
from collections.abc import Coroutine, Hashable
from typing import Any, Final, TypeVar

from stello_graph.errors import StoreUnavailable
from stello_graph.model.values import StoreState
from stello_graph.outliving import outliving
from stello_graph.store.engine import Engine, Row, WrappedEngine
from stello_graph.store.queries import Query
from stello_graph.store.reading import Reading, reading
from stello_graph.store.scopes import scope_of

__all__ = ["SharingEngine"]

# What asks for more is a long read, which would keep the others waiting.
_MOST_KEYS: Final = 128

T = TypeVar("T")
_Found = dict[str, tuple[Row, int]]


class _Shared:
    """A statement to be.

    Attributes:
        keys: of all who ask, each once.
        askers: how many ask.
        most: characters that its rows may hold, the least that any who asks has left.
        refused: how many its rows hold where that is more, so that none were taken; else 0.
        found: the row of each key and how many characters it holds.
    """

    def __init__(self) -> None:
        self.keys: dict[str, None] = {}
        self.askers = 0
        self.most: int | None = None
        self.refused = 0
        self.found: asyncio.Task[_Found]


class SharingEngine(WrappedEngine):
    """Another engine, asked less often; it also holds reads to what their answers may read."""

    def __init__(self, engine: Engine) -> None:
        super().__init__(engine)
        self._open: dict[Hashable, _Shared] = {}
        self._tasks: set[asyncio.Task[Any]] = set()
        self._is_closed = False

    async def read(self, query: Query, counted: Reading | None = None, /, **params: Any) -> list[Row]:
        """See Engine."""
        if not query.has_texts:
            return await self._read(query, None, params)
        async with reading() as one:
            return await self._read(query, one, params)

    async def write(self, query: Query, **params: Any) -> list[Row]:
        """See Engine."""
        return await self._outliving(super().write(query, **params))

    async def migrate(self) -> list[str]:
        """See Engine."""
        return await self._outliving(super().migrate())

    async def pending_migrations(self) -> list[str]:
        """See Engine."""
        return await self._outliving(super().pending_migrations())

    async def state(self) -> StoreState:
        """See Engine."""
        return await self._outliving(super().state())

    async def ping(self) -> str:
        """See Engine."""
        return await self._outliving(super().ping())

    async def aclose(self) -> None:
        """See Engine."""
        self._is_closed = True
        while self._tasks:
            await asyncio.wait(self._tasks)
        await super().aclose()

    async def _read(self, query: Query, one: Reading | None, params: dict[str, Any]) -> list[Row]:
        if query.is_shared and len(params["keys"]) < _MOST_KEYS:
            return await self._together(query, params, one)
        return await self._outliving(super().read(query, one, **params))

    async def _outliving(self, work: Coroutine[Any, Any, T]) -> T:
        return await outliving(self._begun(work))

    def _begun(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        if self._is_closed:
            work.close()
            raise StoreUnavailable("the store is closed")
        return self._kept(work)

    def _kept(self, work: Coroutine[Any, Any, T]) -> asyncio.Task[T]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def _together(self, query: Query, params: dict[str, Any], one: Reading | None) -> list[Row]:
        keys = params["keys"]
        shared = self._join(query, params, one)
        found = await outliving(shared.found)
        if shared.refused and shared.askers > 1:
            # Who began before the store was closed is answered.
            return await outliving(self._kept(super().read(query, one, **params)))
        own = [found[key] for key in keys if key in found]
        if one is not None:
            one.of_rows = [size for _, size in own]
            one.characters = shared.refused or sum(one.of_rows)
        return [row for row, _ in own]

    def _join(self, query: Query, params: dict[str, Any], one: Reading | None) -> _Shared:
        """The statement that is not asked yet, with the caller's keys added."""
        keys = params["keys"]
        which = _which(query, params, one is not None)
        shared = self._open.get(which)
        if shared is None or shared.found.done() or len(shared.keys) + len(keys) > _MOST_KEYS:
            shared = _Shared()
            shared.found = self._begun(self._ask(which, query, params, shared))
            self._open[which] = shared
        shared.askers += 1
        shared.keys.update(dict.fromkeys(keys))
        if one is not None:
            shared.most = one.most if shared.most is None else min(shared.most, one.most)
        return shared

    async def _ask(self, which: Hashable, query: Query, params: dict[str, Any], shared: _Shared) -> _Found:
        # It runs in the next turn of the loop: whoever asks before then is in.
        if self._open.get(which) is shared:
            del self._open[which]
        counted = None if shared.most is None else Reading(shared.most)
        rows = await super().read(query, counted, **params | {"keys": list(shared.keys)})
        if counted is None:
            return {row["key"]: (row, 0) for row in rows}
        if counted.is_refused:
            shared.refused = counted.characters
            return {}
        return {row["key"]: (row, size) for row, size in zip(rows, counted.of_rows, strict=True)}


def _which(query: Query, params: dict[str, Any], counts: bool) -> Hashable:
    """What reads have to have in common."""
    given = (
        (name, tuple(value) if isinstance(value, list) else value)
        for name, value in params.items()
        if name != "keys"
    )
    return (query.name, counts, scope_of(params), *given)
