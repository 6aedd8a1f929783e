"""Serving until somebody stops it."""

import logging
import signal
from collections.abc import Callable

import uvicorn

from stello_graph.bootstrap import build
from stello_graph.http.app import app_of
from stello_graph.settings import Settings

__all__ = ["serve_until_stopped"]


class _Server(uvicorn.Server):
    """Tells its addresses once it listens."""

    def __init__(self, config: uvicorn.Config, tell: Callable[[int], None]) -> None:
        super().__init__(config)
        self._tell = tell

    async def startup(self, sockets: list[object] | None = None) -> None:  # type: ignore[override]
        """See uvicorn."""
        await super().startup(sockets)  # type: ignore[arg-type]
        if self.started:
            self._tell(self.servers[0].sockets[0].getsockname()[1])


async def serve_until_stopped(settings: Settings, say: Callable[[str], None]) -> None:
    """Serves until SIGTERM or SIGINT; running turns then get the grace period.

    Args:
        say: takes the lines that a person reads.
    """
    logging.basicConfig(level=logging.INFO, format="%(asctime)s %(levelname)s %(name)s %(message)s")
    logging.getLogger("neo4j").setLevel(logging.ERROR)
    graph = build(settings)

    def tell(port: int) -> None:
        host = f"[{settings.host}]" if ":" in settings.host else settings.host
        say(f"Star map   http://{host}:{port}/")
        say(f"GraphiQL   http://{host}:{port}/graphql")
        say(f"Store      {settings.store}")
        if graph.llm.is_offline:
            say("Model      offline: it only quotes; set ANTHROPIC_API_KEY for a real one")
        else:
            say(f"Model      {graph.llm.default_model}")
        if settings.bootstrap_key is None:
            say("Access     this machine only, without a key; set STELLO_BOOTSTRAP_KEY to open it")
        else:
            say("Access     by key")

    config = uvicorn.Config(
        app_of(graph),
        host=settings.host,
        port=settings.port,
        log_level="warning",
        access_log=False,
        proxy_headers=False,
        server_header=False,
        ws_max_size=settings.max_body_bytes,
        timeout_graceful_shutdown=max(1, int(settings.grace)),
    )
    # uvicorn raises the signal again once it is done: with this handler the exit status is 0.
    for stop in (signal.SIGTERM, signal.SIGINT):
        signal.signal(stop, lambda *_: None)
    await _Server(config, tell).serve()
