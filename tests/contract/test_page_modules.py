"""The star map's modules that need no browser, and that the parts of the page know nothing of each other."""

import re
import subprocess
from pathlib import Path

import pytest

from stello_graph.http.assets import web_root

TESTS = sorted((Path(__file__).parents[1] / "web").glob("*.test.mjs"))
PAGE = web_root() / "star-map"
PARTS = ("forest", "talk", "panels")
SHELL_FOR_ALL = {"dialog.js", "toasts.js"}


@pytest.mark.parametrize("path", TESTS, ids=[path.name for path in TESTS])
def test_module_keeps_its_laws(node_path: Path, path: Path) -> None:
    done = subprocess.run(
        [str(node_path), "--test", str(path)],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "# pass 0" not in done.stdout


@pytest.mark.parametrize("part", PARTS)
def test_a_part_of_the_page_knows_no_other(part: str) -> None:
    imported = {
        (path.name, name)
        for path in (PAGE / part).rglob("*.js")
        for name in re.findall(r"from '\.\./([^']+)'", path.read_text("utf-8"))
    }
    foreign = {
        (path, name)
        for path, name in imported
        if name.split("/")[0] in PARTS
        or (name.startswith("shell/") and name.split("/")[1] not in SHELL_FOR_ALL)
    }
    assert foreign == set()
