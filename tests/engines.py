"""The engines that tests run on, the real Neo4j servers behind two of them, and how many tests each had.

A test that asks for `engine` runs once per engine; `neo4j_server(engine)` starts the server at its first use.
In a run with several workers (`-n 2`) all tests of one server go to one of them.
"""

import itertools
import os
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Set
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any, Final, Literal, get_args

import pytest
from xdist.scheduler import LoadScopeScheduling

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
from tests.neo4j_server.local import LocalServer

SQLITE: Final = "sqlite"
ENGINES: Final = (SQLITE, "neo4j", "neo4j-calendar")
SERVERS: Final = {"neo4j": LTS, "neo4j-calendar": CALENDAR}

ENGINE: Final = "engine"
CONFORMANCE: Final = "conformance"

# The module that drops the schema.
DROPPING: Final = "test_migrations"

# Whose a server is: one that all tests share, one that a test has for itself, or one of these from the jars.
Kind = Literal["shared", "own", "local"]
# The only engine of which a test asks for the last.
LOCAL: Final = "neo4j"

OpenServer = Callable[[str], Server]
OpenLocal = Callable[[str], LocalServer]


def docker_answers() -> bool:
    # Imported late: the import takes 0.6 s, and most runs need no server.
    from tests.neo4j_server import container

    return container.docker_answers()


def no_docker() -> bool:
    return False


class Plan:
    """What one run needs of Neo4j, and what it has counted."""

    def __init__(self, environment: dict[str, str]) -> None:
        self.environment = environment
        self.choices: dict[tuple[str, Kind], Choice] = {}
        self.ran: Counter[str] = Counter()
        self.conformance: Counter[str] = Counter()
        self.partial = False

    def choice(self, engine: str, kind: Kind = "shared") -> tuple[Release, Choice]:
        release = SERVERS[engine]
        key = engine, kind
        if key not in self.choices:
            environment = self.environment if kind == "shared" else {}
            docker = no_docker if kind == "local" else docker_answers
            self.choices[key] = choose(release, environment, docker, find_java)
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
    config.pluginmanager.register(Counting(config.stash[PLAN]))


def engine_of(item: pytest.Item) -> str | None:
    spec = getattr(item, "callspec", None)
    return spec.params.get("engine") if spec else None


def kind_of(item: pytest.Item) -> Kind:
    fixtures = getattr(item, "fixturenames", ())
    return "local" if "local_neo4j" in fixtures else "own" if "own_neo4j" in fixtures else "shared"


def pytest_deselected(items: list[pytest.Item]) -> None:
    if items and any(engine_of(item) for item in items):
        items[0].config.stash[PLAN].partial = True


class ByServer(LoadScopeScheduling):  # type: ignore[misc]
    """Hands out all tests of a server, or those of a folder that need none, to one worker."""

    def _split_scope(self, nodeid: str) -> str:
        path, _, parameters = nodeid.partition("[")
        servers = [engine for engine in SERVERS if engine in parameters]
        return max(servers, key=len) if servers else path.rpartition("/")[0]


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """What takes longest begins first in a run of several workers, so that they end together.

    What drops the schema comes last of a server's tests: after it Neo4j plans all queries anew.
    """
    if hasattr(config, "workerinput"):
        items.sort(key=lambda item: (engine_of(item) not in SERVERS, item.path.stem == DROPPING))


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> ByServer:
    config.option.loadscopereorder = False
    return ByServer(config, log)


def spread(config: pytest.Config) -> bool:
    """Whether this process only hands the tests out to workers."""
    return bool(config.getoption("tx", None))


def pytest_sessionstart(session: pytest.Session) -> None:
    """Who hands tests out collects none: it fetches what any of them may need, once for all workers."""
    if spread(session.config) and not session.config.option.collectonly:
        kinds: tuple[Kind, ...] = ("shared", "own")
        lines = prepared(session.config, {*itertools.product(SERVERS, kinds), (LOCAL, "local")})
        for line in lines:
            say(session.config, line)


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> list[str]:
    if config.option.collectonly:
        return []
    return prepared(config, {(engine_of(item), kind_of(item)) for item in items})


def prepared(config: pytest.Config, asked: Set[tuple[str | None, Kind]]) -> list[str]:
    plan = config.stash[PLAN]
    lines: dict[str, None] = {}
    try:
        for engine, kind in itertools.product(SERVERS, get_args(Kind)):
            if (engine, kind) in asked:
                release, choice = plan.choice(engine, kind)
                prepare(release, choice, partial(say, config))
                lines[describe(release, choice)] = None
    except NotAvailable as failure:
        raise pytest.UsageError(str(failure)) from failure
    return list(lines)


def say(config: pytest.Config, text: str) -> None:
    """A worker has no terminal: what it would say its head has said before."""
    if terminal := config.pluginmanager.getplugin("terminalreporter"):
        terminal.write_line(text)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if (engine := engine_of(item)) and report.when == "call":
        conformance = item.config.rootpath / "tests" / "conformance"
        report.user_properties.append((ENGINE, engine))
        report.user_properties.append((CONFORMANCE, conformance in item.path.parents))
    return report


class Counting:
    """Counts the reports that come in, from this process or from its workers."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        found = dict(report.user_properties)
        if ENGINE in found and report.when == "call":
            ran = not report.skipped or hasattr(report, "wasxfail")
            self.plan.ran[str(found[ENGINE])] += ran
            self.plan.conformance[str(found[ENGINE])] += ran and bool(found[CONFORMANCE])


def pytest_sessionfinish(session: pytest.Session) -> None:
    config = session.config
    plan = config.stash[PLAN]
    option = config.option
    if option.ignore or option.ignore_glob or option.collectonly or option.keyword or option.markexpr:
        plan.partial = True
    if config.args_source is not pytest.Config.ArgsSource.TESTPATHS or hasattr(config, "workerinput"):
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
                    server = _started(pytestconfig, engine, tmp_path_factory.mktemp(engine), "shared")
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
            server = _started(pytestconfig, engine, tmp_path / engine, "own")
            stack.callback(server.close)
            return server

        yield open_


@pytest.fixture
def local_neo4j(pytestconfig: pytest.Config, tmp_path: Path) -> Iterator[OpenLocal]:
    """As `own_neo4j`, but always from the jars: `neo4j-admin` can be run on it while it is stopped."""
    with ExitStack() as stack:

        def open_(engine: str) -> LocalServer:
            assert engine == LOCAL, "whoever hands tests out has to prepare it"
            server = _started(pytestconfig, engine, tmp_path / engine, "local")
            stack.callback(server.close)
            assert isinstance(server, LocalServer)
            return server

        yield open_


def _started(config: pytest.Config, engine: str, home: Path, kind: Kind) -> Server:
    release, choice = config.stash[PLAN].choice(engine, kind)
    server = open_server(release, choice, home, partial(say, config))
    try:
        server.start()
    except BaseException:
        server.close()
        raise
    return server
