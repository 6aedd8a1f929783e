"""The benchmark of subscribers and streams: it runs, and everybody hears all of it."""

import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[2]


def test_the_benchmark_runs() -> None:
    """It prints delays of events and deltas that were heard, and what it took."""
    few = ("--subscribers", "3", "--turns", "2", "--seconds", "3", "--warm-up", "1", "--pace", "0.005")
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "bench.live", *few],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    first, head, events, asked, deltas, rates, memory = done.stdout.splitlines()
    assert first == "sqlite: 3 subscribers, 2 turns at once"
    assert head.split() == ["heard", "median", "95", "%", "longest"]
    assert events.startswith("event of the map, from its commit  ")
    assert asked.startswith("first delta, from the question  ")
    assert deltas.startswith("each delta, from the model  ")
    assert rates.startswith("turns ")
    assert memory.startswith("memory of the server ")
