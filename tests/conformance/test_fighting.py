"""Two processes that fork, archive and delete the same sessions."""

import ast
import asyncio
import os
import sys
from collections import Counter
from pathlib import Path
from typing import Final

from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import create

ROOT: Final = Path(__file__).resolve().parents[2]
# By hand, about a minute: FIGHT_ACTS=500 scripts/test tests/conformance/test_fighting.py
ACTS: Final = os.environ.get("FIGHT_ACTS", "50")


async def test_the_forest_stays_whole(space: SpaceStore, database: Database) -> None:
    """Places unique, counters equal to counts, edges consistent, no orphan: the fixture looks at the end."""
    top = await create(space)
    arguments = ["-m", "tests.conformance.fighter", database.url, space.space_id, top.id, ACTS]
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
    came_of = sum((Counter(ast.literal_eval(output.decode())) for output, _ in outputs), Counter[str]())
    print(came_of)
    for act in ("_create", "_fork", "_copy", "_archive", "_delete"):
        assert came_of[act], f"{act} never succeeded: {came_of}"
