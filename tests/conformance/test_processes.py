import asyncio
import os
import sys
from pathlib import Path

import pytest

from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import create

ROOT = Path(__file__).resolve().parents[2]
ROUNDS = 8


@pytest.mark.covers("W39", "W11")
async def test_processes_write_side_by_side(space: SpaceStore, database: Database) -> None:
    """Processes that write to one Space at once leave no gap in its numbers, and nothing half done."""
    top = await create(space)
    arguments = ["-m", "tests.conformance.writer", database.url, space.space_id, top.id, str(ROUNDS)]
    environment = os.environ | database.credentials

    writers = [
        await asyncio.create_subprocess_exec(sys.executable, *arguments, cwd=ROOT, env=environment)
        for _ in range(3)
    ]

    assert await asyncio.gather(*(writer.wait() for writer in writers)) == [0, 0, 0]
    now = await space.space()
    assert (now.event_seq, now.session_count) == (1 + 3 * ROUNDS * 8, 1 + 3 * ROUNDS * 2)
    insight = (await space.sessions([top.id]))[top.id].insight
    assert insight is not None
    assert insight.revision == 3 * ROUNDS
