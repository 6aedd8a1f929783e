"""The examples tell the same story on every engine, and the documentation prints it."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.e2e.conftest import OpenStore

ROOT: Final = Path(__file__).resolve().parents[2]


@pytest.mark.parametrize(("example", "name"), [("forest_of_agents", "story"), ("reflection", "reflection")])
def test_an_example_prints_what_the_documentation_says(
    example: str, name: str, engine: str, open_store: OpenStore
) -> None:
    """To the letter, also where the store holds what an earlier run left."""
    store = open_store(engine)
    first, second = (
        subprocess.run(
            [sys.executable, "-W", "error", ROOT / "examples" / f"{example}.py", "--store", store.url],
            env={**os.environ, **store.environment},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        for _ in range(2)
    )
    assert (first.returncode, first.stderr) == (0, "")
    assert (second.returncode, second.stderr) == (0, "")
    assert first.stdout == documented(name)
    assert second.stdout == documented(name)


def documented(name: str) -> str:
    text = (ROOT / "docs" / "forest.md").read_text(encoding="utf-8")
    found = re.search(rf"<!-- {name} -->\n```text\n(.*?)```\n<!-- end of {name} -->", text, re.DOTALL)
    assert found, name
    return found[1]
