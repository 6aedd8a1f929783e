from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.conftest import _no_connections_left, serve, sqlite_store
from tests.e2e.processes import Store
from tests.e2e.tasks import forget_keys, forget_tasks
from tests.engines import SQLITE, OpenServer
from tests.neo4j_server import credentials

__all__ = ["_no_connections_left", "serve", "store"]


@pytest.fixture
def store(engine: str, neo4j_server: OpenServer, tmp_path: Path) -> Iterator[Store]:
    """A store without keys. Of the graph database that all tests share they are forgotten again."""
    if engine == SQLITE:
        yield sqlite_store(tmp_path)
        return
    server = neo4j_server(engine)
    found = Store(server.url, credentials(server))
    forget_tasks(found)
    yield found
    forget_keys(found)
