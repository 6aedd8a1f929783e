import socket
import time
from collections.abc import Callable
from typing import Protocol

from neo4j import GraphDatabase
from neo4j.exceptions import DriverError, Neo4jError


class Server(Protocol):
    """A Neo4j that can be stopped, killed and started again under the same URL with the same data."""

    @property
    def url(self) -> str: ...
    @property
    def user(self) -> str | None: ...
    @property
    def password(self) -> str | None: ...

    def start(self) -> None: ...
    def stop(self) -> None: ...
    def kill(self) -> None: ...
    def close(self) -> None: ...


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def listens(port: int) -> bool:
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


def answers(url: str, user: str | None, password: str | None) -> bool:
    auth = None if user is None else (user, password or "")
    with GraphDatabase.driver(url, auth=auth, connection_timeout=5) as driver, driver.session() as session:
        try:
            session.run("RETURN 1").consume()
        except (DriverError, Neo4jError, OSError):
            return False
    return True


def wait_until_ready(ready: Callable[[], bool], alive: Callable[[], bool], timeout: float) -> bool:
    deadline = time.monotonic() + timeout
    while alive() and time.monotonic() < deadline:
        if ready():
            return True
        time.sleep(0.2)
    return False
