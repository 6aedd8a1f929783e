"""Makes findable what was stored before there was search."""

import asyncio
import logging

from stello_graph.errors import StelloError
from stello_graph.ports import Store

__all__ = ["index_all", "keep_indexing"]

logger = logging.getLogger(__name__)

_BATCH = 100
# Between two batches others may write, and a store that is away is given some time.
_PAUSE = 0.02
_AWAY = 5.0


async def index_all(store: Store) -> int:
    """Goes through all that waits, now; answers how much it was."""
    count = 0
    while indexed := await store.index_backlog(_BATCH):
        count += indexed
    return count


async def keep_indexing(store: Store) -> None:
    """Goes through all that waits, a little at a time, whatever fails meanwhile."""
    while True:
        pause = _PAUSE
        try:
            if not await store.index_backlog(_BATCH):
                return
        except StelloError as error:
            logger.warning("old texts could not be indexed: %s", error.message)
            pause = _AWAY
        except Exception:
            logger.exception("old texts could not be indexed")
            pause = _AWAY
        await asyncio.sleep(pause)
