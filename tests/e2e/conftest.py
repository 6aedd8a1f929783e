import asyncio
import gc
import warnings
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import ExitStack
from itertools import count
from pathlib import Path
from types import MappingProxyType
from typing import Protocol

import pytest

from stello_graph.ids import new_id
from tests.e2e.client import Client
from tests.e2e.processes import Server, Store, start
from tests.e2e.tasks import forget_tasks
from tests.engines import SQLITE, OpenServer
from tests.model_server import ModelServer
from tests.neo4j_server import credentials

OpenStore = Callable[[str], Store]


class Serve(Protocol):
    """Starts servers that are stopped when the test ends."""

    def __call__(
        self, store: Store, *args: str, settings: Mapping[str, str] = ..., ready: bool = ...
    ) -> Server: ...


@pytest.fixture(autouse=True)
async def _no_connections_left() -> AsyncIterator[None]:
    """Closes what a test's client left open while its loop is there: later it would fail another test."""
    yield
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()
        await asyncio.sleep(0.01)


@pytest.fixture(scope="session")
def open_store(neo4j_server: OpenServer, tmp_path_factory: pytest.TempPathFactory) -> OpenStore:
    """A store of an engine: a new file, or the graph database that all tests share."""

    def open_(engine: str) -> Store:
        if engine == SQLITE:
            return sqlite_store(tmp_path_factory.mktemp("store"))
        server = neo4j_server(engine)
        store = Store(server.url, credentials(server))
        forget_tasks(store)
        return store

    return open_


@pytest.fixture(scope="session")
def model_settings(running_model_server: ModelServer) -> dict[str, str]:
    """What makes a server ask the tests' model."""
    return {
        "ANTHROPIC_API_KEY": running_model_server.api_key,
        "ANTHROPIC_BASE_URL": running_model_server.url,
    }


@pytest.fixture(scope="package")
def shared_store(engine: str, open_store: OpenStore) -> Store:
    """The store of `pair`."""
    return open_store(engine)


@pytest.fixture(scope="package")
def pair(
    shared_store: Store, model_settings: dict[str, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Server, Server]]:
    """Two servers on one store, for all tests that do not harm them."""
    with ExitStack() as stack:
        logs = tmp_path_factory.mktemp("pair")
        servers = [start(shared_store, logs / f"{number}.log", settings=model_settings) for number in (1, 2)]
        for server in servers:
            stack.callback(server.close)
        for server in servers:
            server.wait_ready()
        yield servers[0], servers[1]


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Serve]:
    """Starts servers that are stopped when the test ends."""
    numbers = count(1)
    with ExitStack() as stack:

        def serve_(
            store: Store, *args: str, settings: Mapping[str, str] = MappingProxyType({}), ready: bool = True
        ) -> Server:
            server = start(store, tmp_path / f"server-{next(numbers)}.log", *args, settings=settings)
            stack.callback(server.close)
            if ready:
                server.wait_ready()
            return server

        yield serve_


@pytest.fixture
async def here(
    pair: tuple[Server, Server], shared_store: Store, model_server: ModelServer
) -> AsyncIterator[Client]:
    """A client of the first of two servers, which have nothing to do for an earlier test."""
    forget_tasks(shared_store)
    model_server.reset()
    async with pair[0].client() as client:
        yield client


@pytest.fixture
async def there(pair: tuple[Server, Server], model_server: ModelServer) -> AsyncIterator[Client]:
    """A client of the second."""
    async with pair[1].client() as client:
        yield client


@pytest.fixture
def name() -> str:
    """An id that nobody else uses."""
    return f"e2e-{new_id()}"


def sqlite_store(folder: Path) -> Store:
    """A new file."""
    return Store(f"sqlite:///{folder / 'stello.db'}")
