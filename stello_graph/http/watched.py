"""A streamed answer goes no further than its caller may."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

__all__ = ["WatchedResponse"]

logger = logging.getLogger(__name__)


class WatchedResponse(Response):
    """Ends once one of several things has happened, also in the middle of a stream."""

    def __init__(self, response: Response, *ends: Callable[[], Awaitable[object]]) -> None:
        super().__init__()
        self._response = response
        self._ends = ends

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        telling = asyncio.ensure_future(self._response(scope, receive, send))
        watching = [asyncio.ensure_future(end()) for end in self._ends]
        try:
            await asyncio.wait((telling, *watching), return_when=asyncio.FIRST_COMPLETED)
            if telling.done():
                telling.result()
                return
            for end in watching:
                if end.done() and (fault := end.exception()) is not None:
                    logger.error("a stream ends, since nobody can tell whether it may go on", exc_info=fault)
        finally:
            for task in (telling, *watching):
                task.cancel()
            await asyncio.gather(telling, *watching, return_exceptions=True)
        await send({"type": "http.response.body", "body": b"", "more_body": False})
