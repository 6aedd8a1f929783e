"""The rules of a test run, each on a small project of its own."""

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import get_args

import pytest

from tests import engines
from tests.engines import ENGINES, SERVERS, Kind, Plan
from tests.extras import Extra
from tests.neo4j_server import LTS, NotAvailable
from tests.neo4j_server.choice import Docker, Given, Jars
from tests.neo4j_server.java import Java
from tests.neo4j_server.server import free_port

ROOT = Path(__file__).resolve().parents[2]
CONFIGURATION = '[tool.pytest.ini_options]\ntestpaths = ["tests"]\naddopts = ["-p", "no:cacheprovider"]\n'
ON_SQLITE_ONLY = """
import pytest

@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
def test_one(engine): pass
"""
IN_A_BROWSER = """
def test_page(chromium_path): assert chromium_path.exists()
def test_other(): pass
"""

Run = Callable[..., tuple[int, str]]


@pytest.fixture
def run(tmp_path: Path) -> Run:
    def run_(file: str, source: str, *arguments: str, **environment: str) -> tuple[int, str]:
        path = tmp_path / file
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source)
        (tmp_path / "pyproject.toml").write_text(CONFIGURATION)
        command = [sys.executable, "-m", "pytest", "-p", "tests.engines", "-p", "tests.extras", *arguments]
        done = subprocess.run(
            command,
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(ROOT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1", **environment},
            capture_output=True,
            text=True,
            check=False,
        )
        return done.returncode, done.stdout + done.stderr

    return run_


def test_a_whole_run_fails_where_neo4j_ran_fewer_conformance_tests(run: Run) -> None:
    code, output = run("tests/conformance/test_store.py", ON_SQLITE_ONLY)
    assert code == 1
    assert "1 passed" in output
    assert "Tests per engine: sqlite 1, neo4j 0, neo4j-calendar 0" in output
    assert "FAILED: neo4j ran 0 tests of tests/conformance, sqlite 1" in output


def test_workers_are_counted_together(run: Run, tmp_path: Path) -> None:
    """A run with several workers has the same rules, and all tests of one server are in one worker, first."""
    source = """
import pytest

@pytest.mark.parametrize("number", range(8))
def test_one(engine, number, worker_id):
    with open("ran", "a") as file:
        print(engine, worker_id, file=file)
"""
    spread = ("-p", "xdist", "-n", "2", "--without", "browser,node,nginx")
    code, output = run("tests/conformance/test_store.py", source, *spread)
    assert (code, "24 passed" in output) == (0, True)
    assert "Tests per engine: sqlite 8, neo4j 8, neo4j-calendar 8" in output
    assert f"Neo4j {LTS.version}" in output
    ran = [line.split() for line in (tmp_path / "ran").read_text().splitlines()]
    assert len({(engine, worker) for engine, worker in ran}) == len(ENGINES)
    assert {engine for engine, _ in ran[:8]} <= set(SERVERS), "servers first"

    code, output = run("tests/conformance/test_store.py", ON_SQLITE_ONLY, *spread)
    assert code == 1
    assert "FAILED: neo4j ran 0 tests of tests/conformance, sqlite 1" in output


def test_other_tests_may_run_on_one_engine(run: Run) -> None:
    code, output = run("tests/unit/test_store.py", ON_SQLITE_ONLY)
    assert (code, "FAILED" in output) == (0, False)


@pytest.mark.parametrize("arguments", [("tests/conformance",), ("-k", "test_one or test_two")])
def test_a_selection_may_run_on_one_engine(run: Run, arguments: tuple[str, ...]) -> None:
    source = ON_SQLITE_ONLY + ON_SQLITE_ONLY.replace("test_one", "test_three")
    code, output = run("tests/conformance/test_store.py", source, *arguments)
    assert (code, "FAILED" in output) == (0, False)


def test_a_neo4j_that_is_missing_fails_the_run_before_any_test(run: Run) -> None:
    url = f"bolt://127.0.0.1:{free_port()}"
    source = "def test_one(engine): pass"
    code, output = run("tests/conformance/test_store.py", source, STELLO_TEST_NEO4J=url)
    assert code != 0
    assert f"ERROR: The Neo4j of STELLO_TEST_NEO4J ({url}) does not answer" in output
    assert "passed" not in output


def test_without_browser_leaves_its_tests_out_and_says_so(run: Run) -> None:
    code, output = run("tests/browser/test_page.py", IN_A_BROWSER, "--without", "browser")
    assert code == 0
    assert "1 passed, 1 deselected" in output
    assert "Left out by --without browser: 1 tests" in output


def test_a_program_that_is_missing_is_named_with_every_reason() -> None:
    def fail(reason: str) -> Path:
        raise NotAvailable(reason)

    extra = Extra("browser", "Chromium", (lambda: fail("no chromium on PATH"), lambda: fail("no network")))
    with pytest.raises(NotAvailable) as caught:
        extra.provide()
    assert str(caught.value) == (
        "No Chromium for the tests marked browser: install one, or leave these tests out with "
        "--without browser (no chromium on PATH; no network)."
    )


def test_the_first_step_that_succeeds_is_taken() -> None:
    def fail() -> Path:
        raise NotAvailable("no nginx on PATH")

    assert Extra("nginx", "nginx", (fail, lambda: Path("/nginx"), fail)).provide() == Path("/nginx")


def test_without_knows_its_names(run: Run) -> None:
    code, output = run("tests/test_one.py", "def test_one(): pass", "--without", "browser,java")
    assert code != 0
    assert "--without knows browser, node, nginx, not java." in output


def test_what_needs_neo4j_admin_has_the_jars(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever else there is: no test is left out where Docker or somebody else gives Neo4j."""
    java = Java(Path("/java"), "21.0.1")
    monkeypatch.setattr(engines, "docker_answers", lambda: True)
    monkeypatch.setattr(engines, "find_java", lambda oldest: java)
    plan = Plan({LTS.variable: "bolt://db:7687"})
    chosen = [plan.choice("neo4j", kind)[1] for kind in get_args(Kind)]
    assert chosen == [Given("bolt://db:7687", None, None), Docker(LTS.image), Jars(java)]
