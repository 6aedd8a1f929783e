"""Several processes that serve on one port, and the one that watches over them.

The watching process binds the port and migrates; each worker is a whole service of its own that takes
connections from the same socket. A worker that dies is replaced; if the watching process dies, its workers
stop by themselves.
"""

import asyncio
import logging
import os
import signal
import socket
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import SpawnProcess
from pathlib import Path

from stello_graph.bootstrap import open_store
from stello_graph.errors import StelloError, StoreUnavailable
from stello_graph.listening import bind
from stello_graph.logs import configure
from stello_graph.settings import Settings

__all__ = ["serve_by_workers"]

logger = logging.getLogger(__name__)

# What a worker needs after the grace period to send answers and close, and the pause before one that could
# not start is started anew, in seconds.
_CLOSING = 15.0
_PAUSE = 1.0

# Where workers count together: see http/metrics.py.
_METRICS = "PROMETHEUS_MULTIPROC_DIR"

_SPAWN = get_context("spawn")


@dataclass
class _Worker:
    process: SpawnProcess
    pipe: Connection
    is_ready: bool = False
    failure: str = "a worker ended before it could serve"


def serve_by_workers(settings: Settings, say: Callable[[str], None]) -> None:
    """Serves by several processes until SIGTERM or SIGINT; running turns then get the grace period.

    Args:
        say: takes the lines that a person reads, once all workers serve.

    Raises:
        StelloError: the port cannot be listened on, or the service cannot be opened.
    """
    asyncio.run(_prepare_store(settings))
    listeners = bind(settings.host, settings.port)
    try:
        with tempfile.TemporaryDirectory(prefix="stello-metrics-") as folder:
            os.environ[_METRICS] = folder
            _Watch(settings.model_copy(update={"migrate": False}), listeners, say).run()
    finally:
        for listener in listeners:
            listener.close()


class _Watch:
    """Starts workers, replaces those that die, and stops them all."""

    def __init__(
        self,
        settings: Settings,
        listeners: Sequence[socket.socket],
        say: Callable[[str], None],
    ) -> None:
        self._settings = settings
        self._listeners = listeners
        self._say = say
        self._workers: list[_Worker] = []
        self._is_told = self._is_stopping = False
        self._bell, self._rings = socket.socketpair()

    def run(self) -> None:
        """Returns once it was told to stop and all workers have ended."""
        self._rings.setblocking(False)
        for stop in (signal.SIGTERM, signal.SIGINT):
            signal.signal(stop, self._stop)
        try:
            self._workers = [self._start() for _ in range(self._settings.workers)]
            while not self._is_stopping:
                self._look()
        finally:
            self._end()

    def _stop(self, *_: object) -> None:
        self._is_stopping = True
        self._rings.send(b"!")

    def _start(self) -> _Worker:
        ours, theirs = _SPAWN.Pipe()
        process = _SPAWN.Process(
            target=_work, args=(self._settings, self._listeners, theirs), name="stello-graph"
        )
        process.start()
        theirs.close()
        logger.info("worker %s starts", process.pid)
        return _Worker(process, ours)

    def _look(self) -> None:
        """Waits for something to happen, and does what follows from it."""
        silent = [worker.pipe for worker in self._workers if not worker.is_ready]
        happened = wait([self._bell, *silent, *(worker.process.sentinel for worker in self._workers)])
        for place, worker in enumerate(self._workers):
            if worker.pipe in happened:
                self._hear(worker)
            if worker.process.sentinel in happened and not self._is_stopping:
                self._workers[place] = self._replaced(worker)

    def _hear(self, worker: _Worker) -> None:
        try:
            worker.is_ready, text = worker.pipe.recv()
        except (EOFError, OSError):
            worker.process.join()
            return
        if not worker.is_ready:
            worker.failure = text
            worker.process.join()
            return
        logger.info("worker %s serves", worker.process.pid)
        if not self._is_told and all(each.is_ready for each in self._workers):
            self._is_told = True
            self._say(text)

    def _replaced(self, worker: _Worker) -> _Worker:
        if not self._is_told:
            raise StoreUnavailable(worker.failure)
        worker.pipe.close()
        # What a dead worker had running does not run any more; what it has counted stays.
        for gauge in Path(os.environ[_METRICS]).glob(f"gauge_live*_{worker.process.pid}.db"):
            gauge.unlink()
        if worker.is_ready:
            logger.warning("worker %s ended; another takes its place", worker.process.pid)
        else:
            logger.warning("worker %s could not start, another tries: %s", worker.process.pid, worker.failure)
            wait([self._bell], _PAUSE)
        return self._start()

    def _end(self) -> None:
        for listener in self._listeners:
            listener.close()
        running = [worker.process for worker in self._workers if worker.process.is_alive()]
        for process in running:
            process.terminate()
        deadline = time.monotonic() + self._settings.grace + _CLOSING
        for process in running:
            process.join(max(0.0, deadline - time.monotonic()))
            if process.is_alive():
                logger.error("worker %s does not end and is killed", process.pid)
                process.kill()
                process.join()


def _work(settings: Settings, listeners: Sequence[socket.socket], pipe: Connection) -> None:
    """A worker: tells how it starts, then serves."""
    # Ctrl-C reaches all processes of a terminal: until the server handles it, the watching process does.
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    configure(settings.log_format, settings.log_level)
    from stello_graph.serving import new_loop

    try:
        with asyncio.Runner(loop_factory=new_loop) as runner:
            runner.run(_serve(settings, listeners, pipe))
    except StelloError as error:
        pipe.send((False, error.message))
        sys.exit(1)


async def _serve(settings: Settings, listeners: Sequence[socket.socket], pipe: Connection) -> None:
    from stello_graph.serving import serve_until_stopped

    loop = asyncio.get_running_loop()

    def orphaned() -> None:
        loop.remove_reader(pipe.fileno())
        os.kill(os.getpid(), signal.SIGTERM)

    loop.add_reader(pipe.fileno(), orphaned)
    try:
        await serve_until_stopped(settings, lambda text: pipe.send((True, text)), listeners=listeners)
    finally:
        loop.remove_reader(pipe.fileno())


async def _prepare_store(settings: Settings) -> None:
    store = open_store(settings)
    try:
        if settings.migrate:
            await store.migrate()
    finally:
        await store.aclose()
