"""Serving until somebody stops it."""

import asyncio
import os
import signal
import socket
from collections.abc import Callable, Sequence

import uvicorn

from stello_graph.bootstrap import build
from stello_graph.http.app import app_of
from stello_graph.service import StelloGraph
from stello_graph.settings import Settings

__all__ = ["serve_until_stopped"]

# Seconds: when streams without an end of their own are ended; how long all answers may take to be sent.
_STREAMS_SECONDS = 1
_FLUSH_SECONDS = 5


class _Server(uvicorn.Server):
    """Tells its port once it listens; lets running turns end while their callers are still connected."""

    def __init__(self, config: uvicorn.Config, graph: StelloGraph, tell: Callable[[int], None]) -> None:
        super().__init__(config)
        self._graph = graph
        self._tell = tell

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn."""
        await super().startup(sockets)
        if self.started:
            self._tell(self.servers[0].sockets[0].getsockname()[1])

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """See uvicorn; no new connections are taken meanwhile."""
        for server in self.servers:
            server.close()
        await self._graph.turns.stop(self._graph.settings.grace)
        # Streams of turns have ends of their own, which are sent first.
        asyncio.get_running_loop().call_later(_STREAMS_SECONDS, self._graph.stopping.set)
        await super().shutdown(sockets)


async def serve_until_stopped(
    settings: Settings, say: Callable[[str], None], *, listeners: Sequence[socket.socket] | None = None
) -> None:
    """Serves until SIGTERM or SIGINT; running turns then get the grace period.

    Args:
        say: takes the lines that a person reads, once it serves.
        listeners: where connections come in, in place of the settings' host and port.

    Raises:
        StelloError: the service cannot be opened.
    """
    graph = build(settings)
    config = uvicorn.Config(
        app_of(graph, opens=False),
        host=settings.host,
        port=settings.port,
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws_max_size=settings.max_body_bytes,
        timeout_graceful_shutdown=_FLUSH_SECONDS,
    )
    async with graph:
        # uvicorn raises the signal again once it is done: with this handler the exit status is 0.
        for stop in (signal.SIGTERM, signal.SIGINT):
            signal.signal(stop, lambda *_: None)
        await _Server(config, graph, lambda port: _tell(graph, port, say)).serve(
            None if listeners is None else list(listeners)
        )
    if graph.has_strays:
        # A task that ignores its cancellation would keep the event loop open for ever.
        os._exit(0)


def _tell(graph: StelloGraph, port: int, say: Callable[[str], None]) -> None:
    settings = graph.settings
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    lines = [f"Star map   http://{host}:{port}/", f"GraphiQL   http://{host}:{port}/graphql"]
    lines.append(f"Store      {settings.store}")
    if graph.llm.is_offline:
        lines.append("Model      offline: it only quotes; set ANTHROPIC_API_KEY for a real one")
    else:
        lines.append(f"Model      {graph.llm.default_model}")
    if graph.keyring.is_in_use:
        lines.append("Access     by key")
    else:
        lines.append(
            "Access     this machine only, until there is a key: stello-graph keys create --name NAME"
        )
    say("\n".join(lines))
