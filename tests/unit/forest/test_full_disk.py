"""A disk that is full in the middle of a turn."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from stello_graph.errors import StoreUnavailable
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.requests import CreateSession, Send
from stello_graph.model.turn import StopReason, TurnStatus
from stello_graph.service import StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.sqlite import SqliteEngine
from stello_graph.store.store import GraphStore
from tests.e2e.waiting import until

LONG = "All that fits nowhere. " * 20_000


@pytest.fixture
async def engine(tmp_path: Path) -> AsyncIterator[SqliteEngine]:
    opened = SqliteEngine(tmp_path / "stello.db")
    yield opened
    await opened.aclose()


async def allow_pages(engine: SqliteEngine, count: int) -> None:
    text = f"PRAGMA max_page_count = {count}"
    await engine._writer.run(lambda connection: connection.execute(text).fetchall())


@pytest.mark.covers("W13")
async def test_a_turn_survives_a_full_disk(engine: SqliteEngine, caplog: pytest.LogCaptureFixture) -> None:
    """Writes are refused while it lasts, reads go on; then the turn is whole or closed, and all goes on."""
    gate = asyncio.Event()
    llm = ScriptedLLM([[gate, LONG], "And on."])
    settings = Settings(lease_seconds=1.0, renew_seconds=0.05, janitor_seconds=0.1, grace=0.0)
    async with StelloGraph(GraphStore(engine), llm, settings) as graph:
        space = graph.space()
        await space.create_session(CreateSession(id="s"))
        turn = await space.start_turn(Send(session_id="s", content="Tell me all"))
        await allow_pages(engine, 1)
        gate.set()
        with pytest.raises(StoreUnavailable):
            await space.create_session(CreateSession(id="other", system_prompt=LONG))
        assert list(await space.store.sessions(["s", "other"])) == ["s"]
        await until(lambda: f"turn {turn.id} could not be stored" in caplog.text, "the reply is refused")
        await allow_pages(engine, 1_000_000)

        again = await space.send(Send(session_id="s", content="Go on"))
        first = (await space.store.turns([turn.id]))[turn.id]
        messages = await space.store.oldest_messages(["s"], after=0, before=100, first=100, roles=None)

    assert again.status is TurnStatus.COMPLETED
    assert (first.status, first.stop_reason) in {
        (TurnStatus.COMPLETED, StopReason.END_TURN),
        (TurnStatus.FAILED, StopReason.INTERRUPTED),
    }
    told = [message.content for message in messages["s"]]
    assert (told[0], told[-2:]) == ("Tell me all", ["Go on", "And on."])
    assert all(LONG.startswith(text) for text in told[1:-2])
