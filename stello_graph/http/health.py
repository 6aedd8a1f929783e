"""Liveness and readiness."""

import asyncio

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

    async def alive(self, _request: Request) -> Response:
        """200 as long as the process answers at all."""
        return JSONAnswer({"status": "ok"})

    async def ready(self, _request: Request) -> Response:
        """200, or 503 while the store is away."""
        try:
            async with asyncio.timeout(_PATIENCE):
                await self._graph.store.ping()
        except (StoreUnavailable, TimeoutError):
            return JSONAnswer(
                {"status": "unavailable", "reason": "the store does not answer"}, status_code=503
            )
        return JSONAnswer({"status": "ok"})
