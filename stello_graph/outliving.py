"""Work that ends though whoever asked for it has gone."""

import asyncio
import logging
from typing import Any, TypeVar

from stello_graph.errors import StelloError

__all__ = ["outliving"]

T = TypeVar("T")

logger = logging.getLogger(__name__)


async def outliving(work: asyncio.Future[T]) -> T:
    """Waits for `work`, which goes on where the caller is cancelled; a failure is logged then."""
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        work.add_done_callback(_log_failure)
        raise


def _log_failure(work: asyncio.Future[Any]) -> None:
    error = None if work.cancelled() else work.exception()
    if isinstance(error, StelloError):
        logger.warning("what a caller that has gone had asked for failed: %s", error.message)
    elif error is not None:
        logger.error("what a caller that has gone had asked for failed", exc_info=error)
