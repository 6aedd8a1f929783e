"""Deleting whole Spaces. A Space goes at once; what was in it is swept in bounded transactions.

Sweeping begins when no process trusts a key of the Space any more, so nobody sees it half. Any process
goes on with it, whichever began.
"""

import asyncio
import logging
import random

from stello_graph.errors import StelloError
from stello_graph.ports import Store

__all__ = ["Sweeper"]

logger = logging.getLogger(__name__)

_SPACES = 100
_ALL = 1_000_000


class Sweeper:
    """Deletes what is left of deleted Spaces."""

    def __init__(self, store: Store, *, delay: float, interval: float) -> None:
        """Opens nothing.

        Args:
            delay: seconds for which a deleted Space's keys may still be trusted somewhere.
            interval: how often deleted Spaces are looked for.
        """
        self._store = store
        self._delay = delay
        self._interval = interval

    async def keep_house(self) -> None:
        """Looks for deleted Spaces for ever, whatever fails meanwhile."""
        while True:
            await asyncio.sleep(self._interval * random.uniform(0.8, 1.2))
            try:
                await self.sweep()
            except StelloError as error:
                logger.warning("deleted Spaces could not be swept: %s", error.message)
            except Exception:
                logger.exception("deleted Spaces could not be swept")

    async def sweep(self) -> None:
        """Deletes what may be deleted by now, part by part, until nothing of it is left.

        Raises:
            StelloError: the store is away.
        """
        while spaces := await self._store.deleted_spaces(first=_SPACES):
            if not any([await self._sweep(space_id) for space_id in spaces]):
                return

    async def finish(self, space_id: str) -> None:
        """Waits until nothing is left of one deleted Space."""
        while space_id in await self._store.deleted_spaces(first=_ALL):
            if not await self._sweep(space_id):
                await asyncio.sleep(min(1.0, self._delay / 4))

    async def _sweep(self, space_id: str) -> bool:
        return await self._store.sweep_space(space_id, delay=self._delay)
