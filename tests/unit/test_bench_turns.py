"""The benchmark of turns, and what a turn costs in statements."""

import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Final

from bench.turns import KINDS, bench

ROOT: Final = Path(__file__).resolve().parents[2]


async def test_a_turn_without_tools_is_two_statements(tmp_path: Path) -> None:
    """Begin and end, whether it is the first of its session or not."""
    async with bench(f"sqlite:///{tmp_path / 'bench.db'}") as running:
        for _ in range(2):
            assert await running.statements(KINDS[0]) == Counter({"turns/begin": 1, "turns/end": 1})


async def test_a_tool_round_is_two_statements_more(tmp_path: Path) -> None:
    """The reply with its calls, then all results together."""
    async with bench(f"sqlite:///{tmp_path / 'bench.db'}") as running:
        for _ in range(2):
            counted = await running.statements(KINDS[1])
            assert counted == Counter({"turns/begin": 1, "turns/store": 2, "turns/end": 1})


def test_the_benchmark_runs() -> None:
    """It prints a line for each kind of turn, with its statements."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "bench.turns", "--seconds", "0.1", "--concurrency", "1,4"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    head, _, plain, tools = done.stdout.splitlines()
    assert head.split() == ["sqlite", "1", "caller", "4", "callers"]
    assert plain.startswith(KINDS[0])
    assert plain.endswith("2: turns/begin, turns/end")
    assert tools.startswith(KINDS[1])
    assert tools.endswith("4: turns/begin, 2 turns/store, turns/end")
