"""The benchmark of growth: what counts as growth, and that it runs."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from bench.growth import Growth, Row

ROOT: Final = Path(__file__).resolve().parents[2]


def row(*big: float, per: float = 1.0) -> Row:
    """Two milliseconds on the small store, round by round, and so many on the big one."""
    return Row(what="to read", small=[2.0] * len(big), big=big, at_most=1.5, per=per)


def test_what_grows_is_missed() -> None:
    """By the median of the rounds' ratios, a row where there are more rows; and by memory."""
    assert row(2.0, 2.9, 9.0).is_met
    assert not row(2.0, 3.1, 9.0).is_met
    assert row(14.0, per=5.0).is_met
    assert str(row(3.1)).endswith("  MISSED")
    assert Growth([row(2.0)], memory=299.0).is_met
    assert not Growth([row(2.0)], memory=301.0).is_met
    assert not Growth([row(2.0), row(3.1)], memory=299.0).is_met


def test_the_benchmark_runs() -> None:
    """A line for each operation, the map and the memory; exit 1 where one is missed."""
    sizes = ("--nodes", "2500", "--messages", "200", "--inherited", "50", "--maps", "500,1000")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "bench.growth", *sizes, "--rounds", "1", "--seconds", "0.05"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    first, head, *lines = done.stdout.splitlines() or [done.stderr]
    assert first == "sqlite: 2,000 and 2,500 nodes; 100 and 200 messages in a session", done.stderr
    assert head.split() == ["small", "big", "times", "spread", "at", "most"]
    assert [line[:42].rstrip() for line in lines] == [
        "getChildren, 8 rows",
        "newest 50 messages",
        "append a message",
        "fork without context",
        "fork, INHERIT of 10 and 50",
        "starMap a node, 500 and 1,000",
        "memory of the server after the big map",
    ]
    assert done.returncode == ("MISSED" in done.stdout)
