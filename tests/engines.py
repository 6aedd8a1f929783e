"""The engines that tests run on, the real Neo4j servers behind two of them, and how many tests each had.

A test that asks for `engine` runs once per engine; `neo4j_server(engine)` starts the server at its first use.
"""

import itertools
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Final

import pytest

from tests.neo4j_server import (
    CALENDAR,
    LTS,
    Choice,
    NotAvailable,
    Release,
    Server,
    StartFailed,
    choose,
    describe,
    open_server,
    prepare,
)
from tests.neo4j_server.java import find as find_java

SQLITE: Final = "sqlite"
ENGINES: Final = (SQLITE, "neo4j", "neo4j-calendar")
SERVERS: Final = {"neo4j": LTS, "neo4j-calendar": CALENDAR}

OpenServer = Callable[[str], Server]


def docker_answers() -> bool:
    # Imported late: the import takes 0.6 s, and most runs need no server.
    from tests.neo4j_server import container

    return container.docker_answers()


class Plan:
    """What one run needs of Neo4j, and what it has counted."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self.choices: dict[str, Choice] = {}
        self.ran: Counter[str] = Counter()
        self.conformance: Counter[str] = Counter()
        self.partial = False

    def choice(self, engine: str, *, own: bool = False) -> tuple[Release, Choice]:
        release = SERVERS[engine]
        key = f"{engine}, own" if own else engine
        if key not in self.choices:
            environment = {} if own else self.environment
            self.choices[key] = choose(release, environment, docker_answers, find_java)
        return release, self.choices[key]

    def fewer(self) -> list[str]:
        counts = self.conformance
        return [
            f"{engine} ran {counts[engine]} tests of tests/conformance, {SQLITE} {counts[SQLITE]}"
            for engine in SERVERS
            if counts[engine] < counts[SQLITE]
        ]


PLAN: Final = pytest.StashKey[Plan]()


@pytest.hookimpl(tryfirst=True)
def pytest_configure(config: pytest.Config) -> None:
    config.stash[PLAN] = Plan(dict(os.environ))


def engine_of(item: pytest.Item) -> str | None:
    spec = getattr(item, "callspec", None)
    return spec.params.get("engine") if spec else None


def pytest_deselected(items: list[pytest.Item]) -> None:
    if items and any(engine_of(item) for item in items):
        items[0].config.stash[PLAN].partial = True


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> list[str]:
    if config.option.collectonly:
        return []
    plan = config.stash[PLAN]
    terminal = config.pluginmanager.getplugin("terminalreporter")
    asked = {(engine_of(item), "own_neo4j" in getattr(item, "fixturenames", ())) for item in items}
    lines: dict[str, None] = {}
    try:
        for engine, own in itertools.product(SERVERS, (False, True)):
            if (engine, own) in asked:
                release, choice = plan.choice(engine, own=own)
                prepare(release, choice, terminal.write_line)
                lines[describe(release, choice)] = None
    except NotAvailable as failure:
        raise pytest.UsageError(str(failure)) from failure
    return list(lines)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if (engine := engine_of(item)) and report.when == "call":
        plan = item.config.stash[PLAN]
        ran = not report.skipped or hasattr(report, "wasxfail")
        plan.ran[engine] += ran
        conformance = item.config.rootpath / "tests" / "conformance"
        plan.conformance[engine] += ran and conformance in item.path.parents
    return report


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    plan = config.stash[PLAN]
    ignored = config.option.ignore or config.option.ignore_glob
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS or ignored or config.option.collectonly:
        plan.partial = True
    if not plan.partial and plan.fewer() and session.exitstatus == pytest.ExitCode.OK:
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    plan = config.stash[PLAN]
    if plan.ran:
        counts = ", ".join(f"{engine} {plan.ran[engine]}" for engine in ENGINES)
        terminalreporter.write_line(f"Tests per engine: {counts}")
    for line in plan.fewer() if not plan.partial else []:
        terminalreporter.write_line(f"FAILED: {line}", red=True)


@pytest.fixture(scope="session", params=ENGINES)
def engine(request: pytest.FixtureRequest) -> str:
    """The engine of this test; `@pytest.mark.parametrize("engine", [...], indirect=True)` takes fewer."""
    name: str = request.param
    return name


@pytest.fixture(scope="session")
def neo4j_server(
    pytestconfig: pytest.Config, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[OpenServer]:
    """The running server of an engine, shared by all tests of the run."""
    servers: dict[str, Server | StartFailed] = {}
    with ExitStack() as stack:

        def open_(engine: str) -> Server:
            if engine not in servers:
                try:
                    server = _started(pytestconfig, engine, tmp_path_factory.mktemp(engine), own=False)
                    stack.callback(server.close)
                    servers[engine] = server
                except StartFailed as failure:
                    servers[engine] = failure
            if isinstance(found := servers[engine], StartFailed):
                raise found
            return found

        yield open_


@pytest.fixture(scope="session")
def neo4j_url(neo4j_server: OpenServer) -> Callable[[str], str]:
    """The Bolt URL of the running server of an engine."""
    return lambda engine: neo4j_server(engine).url


@pytest.fixture
def own_neo4j(pytestconfig: pytest.Config, tmp_path: Path) -> Iterator[OpenServer]:
    """A running server that a test has for itself, to stop, kill and start again."""
    with ExitStack() as stack:

        def open_(engine: str) -> Server:
            server = _started(pytestconfig, engine, tmp_path / engine, own=True)
            stack.callback(server.close)
            return server

        yield open_


def _started(config: pytest.Config, engine: str, home: Path, *, own: bool) -> Server:
    terminal = config.pluginmanager.getplugin("terminalreporter")
    release, choice = config.stash[PLAN].choice(engine, own=own)
    server = open_server(release, choice, home, terminal.write_line)
    try:
        server.start()
    except BaseException:
        server.close()
        raise
    return server
