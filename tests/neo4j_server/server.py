import gc
import socket
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Protocol
from urllib.parse import urlsplit


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


def credentials(server: Server) -> dict[str, str]:
    """The settings that open a server beside its URL, as environment variables."""
    known = {"STELLO_NEO4J_USER": server.user, "STELLO_NEO4J_PASSWORD": server.password}
    return {name: value for name, value in known.items() if value is not None}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
    return port


def listens(host: str, port: int) -> bool:
    try:
        with socket.create_connection((host, port), timeout=5):
            return True
    except OSError:
        return False


@contextmanager
def leaks_ignored() -> Iterator[None]:
    """Clients that fail to connect leave their socket to the garbage collector, which then warns."""
    with warnings.catch_warnings(action="ignore", category=ResourceWarning):
        try:
            yield
        finally:
            gc.collect()


def answers(url: str, user: str | None, password: str | None) -> bool:
    address = urlsplit(url)
    if not listens(address.hostname or "localhost", address.port or 7687):
        return False
    # Imported late: the import takes 0.6 s, and most runs need no server.
    from neo4j import GraphDatabase
    from neo4j.exceptions import DriverError, Neo4jError

    auth = None if user is None else (user, password or "")
    try:
        with (
            leaks_ignored(),
            GraphDatabase.driver(url, auth=auth, connection_timeout=5) as driver,
            driver.session() as session,
        ):
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
