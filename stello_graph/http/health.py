"""Liveness and readiness."""

import asyncio
from contextvars import Context

from starlette.requests import Request
from starlette.responses import Response

from stello_graph.errors import StoreUnavailable
from stello_graph.http.answers import JSONAnswer
from stello_graph.service import StelloGraph

__all__ = ["Health"]

_PATIENCE = 3.0


class Health:
    """`/healthz`: the process answers. `/readyz`: the store does as well."""

    def __init__(self, graph: StelloGraph) -> None:
        self._graph = graph
        self._asking: asyncio.Task[str] | None = None

    async def alive(self, _request: Request) -> Response:
        """200 as long as the process answers at all."""
        return JSONAnswer({"status": "ok"})

    async def ready(self, _request: Request) -> Response:
        """200, or 503 while the store is away."""
        try:
            async with asyncio.timeout(_PATIENCE):
                await asyncio.shield(self._ping())
        except (StoreUnavailable, TimeoutError):
            return JSONAnswer(
                {"status": "unavailable", "reason": "the store does not answer"}, status_code=503
            )
        return JSONAnswer({"status": "ok"})

    def _ping(self) -> "asyncio.Task[str]":
        """One for all who ask meanwhile: anybody may ask, as often as they like."""
        if self._asking is None or self._asking.done():
            self._asking = asyncio.create_task(self._answers(), context=Context())
            self._asking.add_done_callback(lambda asked: asked.cancelled() or asked.exception())
        return self._asking

    async def _answers(self) -> str:
        await self._graph.ensure_open()
        return await self._graph.store.ping()
