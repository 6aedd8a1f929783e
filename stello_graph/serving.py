"""Serving until somebody stops it."""

import asyncio
import ctypes
import gc
import os
import shlex
import shutil
import signal
import socket
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import uvicorn
from uvicorn.loops.auto import auto_loop_factory

from stello_graph.bootstrap import build
from stello_graph.http.app import app_of
from stello_graph.listening import bind, listens_everywhere, opened_at
from stello_graph.service import StelloGraph
from stello_graph.settings import Settings, without_password

__all__ = ["new_loop", "serve_until_stopped"]

# Seconds: when streams without an end of their own are ended; how long all answers may take to be sent.
_STREAMS_SECONDS = 1
_FLUSH_SECONDS = 5
# How long a connection may be idle: longer than with clients and proxies, who lose what they send over one
# that is being closed.
_IDLE_SECONDS = 75
# How many objects are new, and how often the younger ones were looked at, before cycles are looked for.
_COLLECTING = 50_000, 20, 50
# After so many seconds a thread that computes, as imports do, lets another one on that waits.
_SWITCHING = 0.001
# Of glibc's malloc.h.
_M_ARENA_MAX = -8


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


def new_loop() -> asyncio.AbstractEventLoop:
    """An event loop to serve on: uvloop's, which is faster, except where there is none (Windows)."""
    return auto_loop_factory()()


async def serve_until_stopped(
    settings: Settings, say: Callable[[str], None], *, listeners: Sequence[socket.socket] | None = None
) -> None:
    """Serves until SIGTERM or SIGINT; running turns then get the grace period.

    Args:
        say: takes the lines that a person reads, once it serves.
        listeners: where connections come in, in place of the settings' host and port.

    Raises:
        StelloError: the service cannot be opened, or the port cannot be listened on.
    """
    graph = build(settings)
    config = uvicorn.Config(
        app_of(graph, opens=False),
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws_max_size=settings.max_body_bytes,
        # Of small messages it takes a fifth of the processor time and saves little.
        ws_per_message_deflate=False,
        timeout_graceful_shutdown=_FLUSH_SECONDS,
        timeout_keep_alive=_IDLE_SECONDS,
    )
    _spare_collecting()
    sys.setswitchinterval(_SWITCHING)
    _share_memory()
    async with graph:
        # uvicorn raises the signal again once it is done: with this handler the exit status is 0.
        for stop in (signal.SIGTERM, signal.SIGINT):
            signal.signal(stop, lambda *_: None)
        await _Server(config, graph, lambda port: _tell(graph, port, say)).serve(
            bind(settings.host, settings.port) if listeners is None else list(listeners)
        )
    if graph.has_strays:
        # A task that ignores its cancellation would keep the event loop open for ever.
        os._exit(0)


def _spare_collecting() -> None:
    """Looking for cycles among what reads make, where there are none, took a fifth of their time."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(*_COLLECTING)


def _share_memory() -> None:
    """With glibc each thread keeps memory of its own, a third of all after some maps of 100,000 nodes."""
    if sys.platform == "linux" and hasattr(libc := ctypes.CDLL(None), "mallopt"):
        libc.mallopt(_M_ARENA_MAX, 1)


def _tell(graph: StelloGraph, port: int, say: Callable[[str], None]) -> None:
    say("\n".join(f"{name:10} {text}" for name, text in _told(graph, port)))


def _told(graph: StelloGraph, port: int) -> Iterator[tuple[str, str]]:
    settings = graph.settings
    address = f"http://{opened_at(settings.host)}:{port}"
    yield "Star map", f"{address}/"
    yield "GraphiQL", f"{address}/graphql"
    if listens_everywhere(settings.host):
        yield "Listens", f"on all interfaces, port {port}: others name this machine's own address"
    yield "Store", without_password(settings.store)
    if graph.llm.is_offline:
        yield "Model", "offline: it only quotes; set ANTHROPIC_API_KEY for a real one"
    else:
        yield "Model", graph.llm.default_model
    if graph.keyring.is_in_use:
        yield "Access", "by key"
    else:
        yield "Access", f"this machine only, until there is a key: {_keys_command(settings)}"


def _keys_command(settings: Settings) -> str:
    """What makes the first key, as it can be pasted where this program was started."""
    typed, name = sys.argv[0], Path(sys.argv[0]).name
    found = shutil.which(name)
    is_found = found is not None and Path(found).resolve() == Path(typed).resolve()
    words = [name if is_found else typed, "keys", "create", "--name", "NAME"]
    if "store" in settings.model_fields_set:
        words += ["--store", without_password(settings.store)]
    return shlex.join(words)
