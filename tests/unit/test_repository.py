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
