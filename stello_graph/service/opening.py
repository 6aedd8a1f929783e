"""Opened once, whoever comes first and however many come; closed once and for all."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine
from contextvars import Context
from typing import Any

from stello_graph.errors import StoreUnavailable

__all__ = ["Opening"]


class Opening:
    """The life of what is opened by `begin`, and closed by `close`, which calls `end` first."""

    def __init__(
        self, begin: Callable[[], Coroutine[Any, Any, None]], close: Callable[[], Awaitable[None]]
    ) -> None:
        self._begin = begin
        self._close = close
        self._trying: asyncio.Task[None] | None = None
        self._keeping: asyncio.Task[None] | None = None
        self._over = asyncio.Event()

    async def lazily(self) -> None:
        """Opens it, unless it is open; what is not closed until then is closed when the event loop ends.

        Raises:
            StoreUnavailable: it was closed; or what `begin` raises, and the next call tries again.
        """
        if self._trying is not None and _succeeded(self._trying) and not self._over.is_set():
            return
        await self.once()
        if self._keeping is None:
            self._keeping = asyncio.create_task(self._close_with_the_loop(), context=Context())

    async def once(self) -> None:
        """Opens it, unless it is open: one try for all who come meanwhile, a new one after a failure.

        Raises:
            StoreUnavailable: it was closed; or what `begin` raises.
        """
        if self._trying is None or (self._trying.done() and not _succeeded(self._trying)):
            self._refuse_if_over()
            # In a context of its own: what runs from now on does not belong to the caller that came first.
            self._trying = asyncio.create_task(self._begin(), context=Context())
        trying = self._trying
        # Who goes away does not end it for the others.
        await asyncio.wait((trying,))
        self._refuse_if_over()
        trying.result()

    async def end(self) -> None:
        """Opens nothing from now on; who waits for it is refused."""
        self._over.set()
        if self._trying is not None:
            self._trying.cancel()
            await asyncio.gather(self._trying, return_exceptions=True)

    async def _close_with_the_loop(self) -> None:
        """`asyncio.run` cancels at its end what still runs, and waits for it."""
        try:
            await self._over.wait()
        except asyncio.CancelledError:
            await self._close()
            raise

    def _refuse_if_over(self) -> None:
        if self._over.is_set():
            raise StoreUnavailable("the service is closed, or the event loop that it was opened in has ended")


def _succeeded(tried: "asyncio.Task[None]") -> bool:
    return tried.done() and not tried.cancelled() and tried.exception() is None
