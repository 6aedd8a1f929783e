"""The soak: what it takes for growth, and that it runs."""

import subprocess
import sys
from pathlib import Path
from typing import Final

from bench.soak import Sample, grown

ROOT: Final = Path(__file__).resolve().parents[2]


def samples(memory: float, handles: float, connections: float) -> list[Sample]:
    """Forty looks at a process of 100 MiB, 50 handles and 30 connections that grows by so much a look."""
    return [
        Sample(n, n, 100 + memory * n, int(50 + handles * n), int(30 + connections * n)) for n in range(40)
    ]


def test_what_grows_is_told() -> None:
    """Each by its name; what only warms up or goes up and down does not grow."""
    assert grown(samples(0, 0, 0)) == []
    assert grown(samples(2, 0, 0)) == ["memory grew from 129 to 169"]
    assert grown(samples(0, 1, 1)) == ["handles grew from 64 to 84", "connections grew from 44 to 64"]
    warm = [Sample(n, n, 100 + 5 * min(n, 9), 50 + n % 7, 30 + n % 5) for n in range(40)]
    assert grown(warm) == []


def test_the_soak_runs() -> None:
    """It prints a line for each look, what was refused, and a verdict, which says little so soon."""
    command = [sys.executable, "-m", "bench.soak", "--minutes", "0.1", "--clients", "4", "--every", "1"]
    ran = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=240, check=False)
    assert ran.stderr == ""
    printed = ran.stdout.splitlines()
    looks = [line for line in printed if " done " in line and " connections" in line]
    assert len(looks) >= 4
    refused, *verdict = printed[len(looks) :]
    assert refused.startswith("refused: ")
    assert ran.returncode == (verdict != ["flat: memory, file handles, connections"])
