"""Random walks: whatever comes in whatever order, and whoever dies, every transcript stays legal."""

import asyncio
from collections.abc import Sequence
from typing import Final

from hypothesis import HealthCheck, Phase, given, settings

from stello_graph.ids import new_id
from stello_graph.store.store import GraphStore
from tests.conformance.databases import Database
from tests.conformance.invariants import check_invariants
from tests.conformance.walks.model import Answer
from tests.conformance.walks.steps import Step, answers, steps
from tests.conformance.walks.walk import Walk
from tests.engines import SQLITE

LIMITS: Final = settings(
    derandomize=True,
    database=None,
    # One walk takes a second: what fails is told as it was drawn, without being made shorter.
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.large_base_example, HealthCheck.data_too_large],
)


def test_walk(engine: str, database: Database) -> None:
    """Turns of several processes with sends, tools, confirmations, cancels, trims, forks and crashes."""
    local = engine == SQLITE

    @settings(LIMITS, max_examples=25 if local else 6)
    @given(steps=steps, answers=answers)
    def walked(steps: Sequence[Step], answers: Sequence[Answer]) -> None:
        asyncio.run(walk(database, steps, answers, 0.6 if local else 4.0))

    walked()


async def walk(database: Database, steps: Sequence[Step], answers: Sequence[Answer], lease: float) -> None:
    """One walk in a Space of its own; what must be true of the database is checked at its end."""
    space_id = f"walk-{new_id()}"
    engine = database.open()
    try:
        await GraphStore(engine).ensure_space(space_id, "Walk")
        await Walk(engine, space_id, answers, lease).run(steps)
    finally:
        await engine.aclose()
    check_invariants(database.snapshot(space_id))
