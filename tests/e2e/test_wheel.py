"""The wheel: what is in it, and that it serves where nothing else is installed."""

import re
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.e2e.conftest import sqlite_store
from tests.e2e.processes import Server, start

ROOT: Final = Path(__file__).parents[2]
PINS: Final = re.compile(r"^[\w.\[\]-]+==[^\\\n]+", re.MULTILINE)


def run(*command: str | Path) -> str:
    """What a command prints."""
    done = subprocess.run(
        command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def belonging() -> Iterator[str]:
    """The files of the checkout that a wheel has to hold, by their names in it."""
    yield "stello_graph/schema.graphql"
    for folder in ("stello_graph", "cypher", "sql", "web/graphiql", "web/star-map", "web/vendor"):
        for path in (ROOT / folder).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts and not path.name.endswith(".d.ts"):
                name = path.relative_to(ROOT).as_posix()
                yield name if folder == "stello_graph" else f"stello_graph/{name}"


async def test_installed_where_nothing_else_is(tmp_path: Path) -> None:
    """Built, installed by pip with what it depends on, and served: pages, what they load, GraphQL."""
    run(sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", tmp_path)
    (wheel,) = tmp_path.glob("*.whl")
    held = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert held == set(belonging())
    assert {"stello_graph/py.typed", "stello_graph/demo/whale_bay.toml"} <= held
    assert {"stello_graph/cypher/topology/children.cypher", "stello_graph/sql/topology/children.sql"} <= held

    pins = tmp_path / "pins.txt"
    pins.write_text("\n".join(PINS.findall((ROOT / "requirements" / "run.txt").read_text("utf-8"))))
    programs = tmp_path / "venv" / "bin"
    run(sys.executable, "-m", "venv", "--without-pip", programs.parent)
    pip = (sys.executable, "-m", "pip", "--python", programs / "python")
    run(*pip, "install", "--quiet", "--no-compile", "-c", pins, wheel)
    assert Path(
        run(programs / "python", "-I", "-c", "import stello_graph; print(stello_graph.__file__)")
    ).is_relative_to(programs.parent)
    server = start(sqlite_store(tmp_path), tmp_path / "log", program=programs / "stello-graph")
    try:
        server.wait_ready()
        await answers(server)
    finally:
        server.close()


async def answers(server: Server) -> None:
    """The star map with all that it names, GraphiQL, and a forest."""
    async with server.client() as client:
        for path in ("/", "/graphql"):
            page = await client.http.get(path, headers={"Accept": "text/html"})
            loaded = re.findall(r'(?:src|href)="(static/[^"]+)"', page.text)
            assert loaded, path
            for name in loaded:
                assert (await client.http.get(f"/{name}")).status_code == 200, name
        assert await client.ask("mutation { loadDemo }") == {"loadDemo": 40}
        assert len((await client.ask("{ getChildren { id } }"))["getChildren"]) > 1
