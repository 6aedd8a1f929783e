"""The documentation site: it builds without a warning, and loads nothing from elsewhere."""

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Final

from tests.contract import cli_help

ROOT: Final = Path(__file__).parents[2]
LOADED: Final = re.compile(r"<(?:script|img|link|iframe|source)\b[^>]*?(?:src|href)=\"(?:https?:)?//[^>]*>")


def warnings(config: Path, folder: Path) -> list[str]:
    """What mkdocs has to say against a site, which is built where that is nothing."""
    environment = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict", "-f", config, "-d", folder],
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    told = [line for line in done.stderr.splitlines() if not line.startswith("INFO")]
    assert (done.returncode == 0) == (told == []), done.stderr
    return told


def test_it_builds_and_needs_no_other_server(tmp_path: Path) -> None:
    """With each page of docs/ in it; links inside lead to pages and headings that are there."""
    assert warnings(ROOT / "mkdocs.yml", tmp_path) == []
    pages = {
        path.relative_to(tmp_path).as_posix(): path.read_text("utf-8") for path in tmp_path.rglob("*.html")
    }
    written = {path.relative_to(ROOT / "docs") for path in (ROOT / "docs").rglob("*.md")}
    assert {str(page.with_suffix(".html")) for page in written} | {"index.html", "CHANGELOG.html"} <= set(
        pages
    )
    assert {name: LOADED.findall(text) for name, text in pages.items() if LOADED.search(text)} == {}
    assert (tmp_path / "operations.graphql").read_bytes() == (ROOT / "docs/operations.graphql").read_bytes()


def test_a_link_into_the_void_is_told(tmp_path: Path) -> None:
    """What the test above relies on: to a page, to a heading, and out of docs/."""
    (tmp_path / "docs").mkdir()
    (tmp_path / "docs" / "index.md").write_text("# One\n\n[a](no.md) [b](#nothing) [c](../README.md)\n")
    config = (ROOT / "mkdocs.yml").read_text("utf-8").partition("\nnav:")[0]
    (tmp_path / "mkdocs.yml").write_text(config.replace("hooks: [docs/beside.py]\n", ""))
    told = "".join(warnings(tmp_path / "mkdocs.yml", tmp_path / "site"))
    assert [link for link in ("no.md", "#nothing", "../README.md") if f"'{link}'" not in told] == []


def test_the_command_line_is_shown_as_it_is() -> None:
    assert (ROOT / "docs/cli.md").read_text("utf-8") == cli_help.page(), (
        "run: python -m tests.contract.cli_help > docs/cli.md"
    )
