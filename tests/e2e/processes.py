"""`stello-graph` as a process: started, watched, stopped, killed."""

import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Final

from tests.conftest import FOREIGN
from tests.e2e.client import Client

__all__ = ["PROGRAM", "QUICK", "Server", "Store", "run", "start"]

PROGRAM: Final = Path(sys.executable).with_name("stello-graph")
# The lease stays long: a machine that is busy with other tests may stand still for seconds.
QUICK: Final = {
    "STELLO_LEASE_SECONDS": "20",
    "STELLO_RENEW_SECONDS": "0.25",
    "STELLO_JANITOR_SECONDS": "0.4",
    "STELLO_FOLLOW_SECONDS": "0.1",
}
START_SECONDS: Final = 90.0
_URL: Final = re.compile(r"^GraphiQL\s+(http://\S+)/graphql$", re.MULTILINE)


@dataclass(frozen=True)
class Store:
    """Where servers keep everything: the URL and what else is needed to open it."""

    url: str
    environment: Mapping[str, str] = field(default_factory=dict)

    @property
    def path(self) -> Path:
        """The file of an embedded store."""
        return Path(self.url.removeprefix("sqlite:///"))


@dataclass
class Server:
    """A running `stello-graph serve`."""

    process: subprocess.Popen[bytes]
    log: Path
    url: str = ""

    def wait_ready(self) -> None:
        """Waits for the printed URL."""
        deadline = time.monotonic() + START_SECONDS
        while not (found := _URL.search(self.output())):
            if self.process.poll() is not None or time.monotonic() > deadline:
                self.kill()
                raise AssertionError(f"the server did not start:\n{self.output()}")
            time.sleep(0.05)
        self.url = found[1]

    def client(self, key: str | None = None) -> Client:
        """A client of this server."""
        return Client(self.url, key=key)

    def output(self) -> str:
        """All that it printed and logged."""
        return self.log.read_text(errors="replace")

    def terminate(self) -> None:
        """SIGTERM."""
        self.process.send_signal(signal.SIGTERM)

    def wait(self, seconds: float = 60.0) -> int:
        """The exit code."""
        return self.process.wait(seconds)

    def kill(self) -> None:
        """SIGKILL."""
        self.process.kill()
        self.process.wait()

    def close(self) -> None:
        """Ends it, and checks that it logged no stack trace."""
        if self.process.poll() is None:
            self.terminate()
            try:
                self.wait(30)
            except subprocess.TimeoutExpired:
                self.kill()
                raise AssertionError(f"SIGTERM did not end the server:\n{self.output()}") from None
        assert "Traceback" not in self.output(), self.output()


def start(
    store: Store,
    log: Path,
    *args: str,
    settings: Mapping[str, str] = MappingProxyType({}),
    program: Path = PROGRAM,
) -> Server:
    """Starts a server; `wait_ready` before it is used."""
    command = [str(program), "serve", "--port", "0", "--store", store.url, *args]
    environment = _environment({**QUICK, **store.environment, **settings})
    with log.open("ab") as output:
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, env=environment
        )
    return Server(process, log)


def run(
    args: Sequence[str], settings: Mapping[str, str] = MappingProxyType({}), program: str = str(PROGRAM)
) -> "subprocess.CompletedProcess[str]":
    """Runs a command to its end."""
    return subprocess.run(
        [program, *args],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
        env=_environment(settings),
    )


def _environment(settings: Mapping[str, str]) -> dict[str, str]:
    """Ours without what would change how the program behaves, or slow its start."""
    dropped = (*FOREIGN, "PYTHONUNBUFFERED", "PYTHONDONTWRITEBYTECODE")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return {**kept, "COLUMNS": "200", "NO_COLOR": "1", "PYTHONUNBUFFERED": "1", **settings}
