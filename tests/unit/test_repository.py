import re
import subprocess
from pathlib import Path

import pytest

from tests.neo4j_server import LTS

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = [*sorted((ROOT / "scripts").iterdir()), ROOT / ".ci" / "run"]
# In parts, so that this file names none.
REGISTRIES = [
    ".".join(parts)
    for parts in (
        ("pypi", "org"),
        ("pythonhosted", "org"),
        ("maven", "apache", "org"),
        ("maven", "org"),
        ("npmjs", "org"),
        ("deb", "debian", "org"),
        ("proxy", "golang", "org"),
        ("crates", "io"),
    )
]


def tracked() -> list[Path]:
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, check=True).stdout
    paths = (ROOT / name.decode() for name in listed.split(b"\0") if name)
    return [path for path in paths if path.is_file()]


@pytest.mark.parametrize("host", REGISTRIES)
def test_no_file_names_a_registry(host: str) -> None:
    assert [path for path in tracked() if host.encode() in path.read_bytes()] == []


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.name)
def test_a_script_is_short_and_can_be_run(script: Path) -> None:
    assert len(script.read_text().splitlines()) <= 25
    assert script.stat().st_mode & 0o111


def test_ci_calls_the_scripts_that_people_call() -> None:
    lines = (ROOT / ".ci" / "run").read_text().splitlines()
    assert lines[-2:] == ["scripts/check", "scripts/test"]


def test_the_composed_neo4j_is_the_tested_one() -> None:
    assert f"image: {LTS.image}\n" in (ROOT / "docker-compose.yml").read_text()


def test_who_composes_is_told_of_each_secret() -> None:
    """What docker-compose.yml cannot start without, README.md sets."""
    needed = set(re.findall(r"\$\{(\w+):\?", (ROOT / "docker-compose.yml").read_text()))

    assert len(needed) == 2
    readme = (ROOT / "README.md").read_text()
    assert {name for name in needed if f"{name}=" in readme} == needed


def headings(page: Path) -> set[str]:
    """The anchors of a page, as GitHub makes them."""
    lines = re.findall(r"^#+ (.*)$", page.read_text(), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", line.lower()).strip().replace(" ", "-") for line in lines}


PAGES = [page for page in tracked() if page.suffix == ".md"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_links_lead_somewhere(page: Path) -> None:
    """Each link to a file of the repository, and to a heading in it."""
    dead = []
    for link in re.findall(r"\]\((?!https?:)([^)\s]+)\)", page.read_text()):
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in headings(target)):
            dead.append(link)
    assert dead == []
