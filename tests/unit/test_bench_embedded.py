"""The benchmark of small reads on SQLite: what it takes for too much, and that it runs."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from bench.embedded import Cost, Row

ROOT: Final = Path(__file__).resolve().parents[2]


def row(took: float, cpu: float, at_most: float | None = 2.0) -> Row:
    """A read that takes so many milliseconds, where the empty request takes one."""
    return Row(what="a read", costs=[Cost(took, cpu)] * 3, empty=[Cost(1.0, 1.0)] * 3, at_most=at_most)


def test_a_read_of_more_than_twice_the_empty_request_is_missed() -> None:
    """By throughput or by processor time, where it is a small one."""
    assert row(1.9, 1.9).is_met
    assert not row(2.1, 1.0).is_met
    assert not row(1.0, 2.1).is_met
    assert row(9.0, 9.0, None).is_met
    assert str(row(2.1, 2.1)).endswith("  MISSED")


def test_the_benchmark_runs() -> None:
    """A line for each read; exit 1 where one is missed."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "bench.embedded", "--rounds", "1", "--seconds", "0.2"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    head, *lines = done.stdout.splitlines() or [done.stderr]
    assert head.split() == ["answers", "times", "cpu", "times", "at", "most"]
    assert [line[:28].rstrip() for line in lines] == [
        "{ __typename }",
        "getChildren, 8 rows",
        "one session",
        "newest 50 messages",
    ]
    assert done.returncode == ("MISSED" in done.stdout)
