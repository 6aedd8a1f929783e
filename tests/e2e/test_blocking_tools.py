"""A tool that blocks its thread for ever does not keep the server from ending."""

import asyncio
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.conftest import OpenStore, Serve
from tests.e2e.waiting import until
from tests.model_server import Answer, ModelServer, use

pytestmark = pytest.mark.parametrize("engine", ["sqlite"], indirect=True)

MODULE: Final = '''
"""A tool that never returns, and cannot be cancelled."""

import threading
from pathlib import Path

from stello_graph import Tool


def block() -> str:
    """Blocks its thread."""
    (Path(__file__).parent / "blocks").touch()
    threading.Event().wait()
    return "never"


tool = Tool(block)
'''


async def test_sigterm(
    engine: str,
    serve: Serve,
    open_store: OpenStore,
    model_server: ModelServer,
    model_settings: dict[str, str],
    name: str,
    tmp_path: Path,
) -> None:
    """SIGTERM ends the process with 0, and the turn legally, though the tool's thread goes on."""
    (tmp_path / "blocking_tool.py").write_text(MODULE, encoding="utf-8")
    settings = {**model_settings, "PYTHONPATH": str(tmp_path)}
    model_server.script(Answer([use("block", id="a")]))
    store = open_store(engine)
    server = serve(store, "--tools", "blocking_tool", "--grace", "0", settings=settings)
    async with server.client() as client:
        await client.create(name)
        turn = await client.start(name, "Block")
        await until((tmp_path / "blocks").exists, "the tool runs")
        server.terminate()
        assert await asyncio.to_thread(server.wait) == 0
    async with serve(store, settings=settings).client() as client:
        stopped = await client.turn(turn["id"])
        assert (stopped["status"], stopped["stopReason"]) == ("FAILED", "INTERRUPTED")
        assert [message["state"] for message in stopped["messages"]][-1] == "CANCELLED"
        assert (await client.send(name, "Go on"))["status"] == "COMPLETED"
    assert model_server.refused == []
