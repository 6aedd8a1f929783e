"""What models took is counted, whether or not their work could be stored."""

import contextlib
from collections.abc import Awaitable, Callable
from typing import TypeVar

from stello_graph.errors import Conflict, ForkRefused, NotFound, SessionArchived, SessionBusy
from stello_graph.model.values import Usage
from stello_graph.ports import SpaceStore

__all__ = ["count", "stored_or_counted"]

T = TypeVar("T")


async def count(store: SpaceStore, session_id: str, usage: Usage) -> None:
    """Counts usage without any work. Of a session that is gone nothing is counted."""
    if usage != Usage():
        with contextlib.suppress(NotFound):
            await store.count_usage(session_id, usage)


async def stored_or_counted(
    store: SpaceStore, session_id: str, usage: Usage, write: Callable[[], Awaitable[T]]
) -> T:
    """Runs a write that stores a model's work together with its usage.

    Raises:
        Conflict, ForkRefused, NotFound, SessionArchived, SessionBusy: it was too late; the usage was
            counted all the same.
    """
    try:
        return await write()
    except (Conflict, ForkRefused, NotFound, SessionArchived, SessionBusy):
        await count(store, session_id, usage)
        raise
