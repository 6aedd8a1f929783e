"""Two processes that fork, archive and delete the same sessions."""

import ast
import asyncio
import os
import sys
from pathlib import Path
from typing import Final

from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import create

ROOT: Final = Path(__file__).resolve().parents[2]
# By hand: FIGHT_SECONDS=60 scripts/test tests/conformance/test_fighting.py
SECONDS: Final = float(os.environ.get("FIGHT_SECONDS", "6"))


async def test_the_forest_stays_whole(space: SpaceStore, database: Database) -> None:
    """Places unique, counters equal to counts, edges consistent, no orphan: the fixture looks at the end."""
    top = await create(space)
    arguments = ["-m", "tests.conformance.fighter", database.url, space.space_id, top.id, str(SECONDS)]
    fighters = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, *arguments, str(seed)),
            cwd=ROOT,
            env=os.environ | database.credentials,
            stdout=asyncio.subprocess.PIPE,
        )
        for seed in (1, 2)
    ]

    outputs = await asyncio.gather(*(fighter.communicate() for fighter in fighters))

    assert [fighter.returncode for fighter in fighters] == [0, 0]
    for output, _ in outputs:
        came_of = ast.literal_eval(output.decode())
        print(came_of)
        for act in ("_create", "_fork", "_archive", "_delete"):
            assert came_of.get(act), f"{act} never succeeded: {came_of}"
