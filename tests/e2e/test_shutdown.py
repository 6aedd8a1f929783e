"""SIGTERM: what runs is given its time, then cut legally; the exit code is 0."""

import asyncio
import time
from typing import Final

import pytest

from tests.e2e.conftest import Serve
from tests.e2e.processes import Store

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)

GRACE: Final = 5.0


async def test_an_idle_server_ends_at_once(serve: Serve, shared_store: Store, name: str) -> None:
    """Whatever connections are open: kept alive, a socket that is idle, one that never said hello."""
    server = serve(shared_store, "--grace", "60")
    async with server.client() as client, client.socket(), client.connection():
        await client.create(name)
        began = time.monotonic()
        server.terminate()
        assert await asyncio.to_thread(server.wait) == 0
        assert time.monotonic() - began < 15
