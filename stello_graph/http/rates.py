"""How many requests of a Space are taken in a second, where keys are in use."""

from typing import TYPE_CHECKING

from stello_graph.errors import LimitExceeded
from stello_graph.model.values import Viewer

if TYPE_CHECKING:
    from limits.aio.strategies import RateLimiter

__all__ = ["RateExceeded", "Rates"]


class RateExceeded(LimitExceeded):
    """Too many requests within a second.

    Attributes:
        retry_after: seconds to wait.
    """

    retryable = True
    retry_after = 1


class Rates:
    """The requests of all Spaces in this process, counted over a sliding second."""

    def __init__(self, per_second: int) -> None:
        self._per_second = per_second
        self._limiter: RateLimiter | None = None

    async def take(self, viewer: Viewer) -> None:
        """Counts a request; without a key nothing is counted. Raises RateExceeded."""
        if viewer.key_name is None:
            return
        from limits import RateLimitItemPerSecond  # A third of a second to load: not without keys.

        if not await self._counter().hit(RateLimitItemPerSecond(self._per_second), viewer.space_id or ""):
            raise RateExceeded(
                f"a Space has at most {self._per_second} requests a second here; wait for a moment"
            )

    def _counter(self) -> "RateLimiter":
        if self._limiter is None:
            from limits.aio.storage import MemoryStorage
            from limits.aio.strategies import SlidingWindowCounterRateLimiter

            self._limiter = SlidingWindowCounterRateLimiter(MemoryStorage())
        return self._limiter
