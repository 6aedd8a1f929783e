"""The benchmark against the budget, with the peer: every contestant answers, and all of them the same."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from bench.items import ITEMS
from bench.peers import PEER_ITEMS
from tests.e2e.conftest import OpenStore

ROOT: Final = Path(__file__).resolve().parents[2]
SMALL: Final = (
    "--nodes",
    "2000",
    "--messages",
    "60",
    "--rounds",
    "1",
    "--seconds",
    "0.02",
    "--concurrency",
    "1",
)


@pytest.mark.parametrize("engine", ["neo4j"], indirect=True)
def test_a_small_run(engine: str, open_store: OpenStore, node_path: Path) -> None:
    """An answer that is not the forest's fails it; a line for each item, and for each of the peer's."""
    store = open_store(engine)
    path = os.pathsep.join([str(node_path.parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-m", "bench", "--peer", "--neo4j", store.url, *SMALL],
        cwd=ROOT,
        env={**os.environ, **store.environment, "PATH": path},
        capture_output=True,
        text=True,
        timeout=500,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    budget, beside, statements, ceilings = (
        part.splitlines() for part in done.stdout.removeprefix("\n").split("\n\n")
    )
    assert budget[0].split()[:6] == ["concurrency", "1", "ours", "raw-tx", "raw-best", "endpoint"]
    assert [line.split()[0] for line in budget[1:]] == list(ITEMS)
    assert beside[0].split()[:4] == ["concurrency", "1", "ours", "peer"]
    assert [line.split()[0] for line in beside[1:]] == list(PEER_ITEMS)
    assert len(statements) == len(ITEMS) + 2
    assert not [line for line in statements if "MISSED" in line]
    assert ceilings[0].startswith("ceilings at concurrency 1: ")
    assert ceilings[1].startswith("caches: a walk over 4,096 objects takes ")
