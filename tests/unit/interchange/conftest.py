from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stello_graph.ports import SpaceStore
from stello_graph.store.sqlite import SqliteEngine
from stello_graph.store.store import GraphStore


@pytest.fixture
async def space(tmp_path: Path) -> AsyncIterator[SpaceStore]:
    """An empty Space."""
    store = GraphStore(SqliteEngine(tmp_path / "stello.db", readers=1))
    await store.migrate()
    await store.ensure_space("default", "Default")
    yield store.in_space("default")
    await store.aclose()
