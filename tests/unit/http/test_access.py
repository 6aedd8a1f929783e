"""Who may ask without any key: this machine, by its loopback names, and nothing that was forwarded."""

import pytest
from starlette.requests import HTTPConnection

from stello_graph.errors import Forbidden
from stello_graph.http.access import admit_loopback


def connection(peer: str | None, **headers: str) -> HTTPConnection:
    given = {"host": "localhost:8000", **headers}
    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in given.items()]
    client = None if peer is None else (peer, 50_000)
    return HTTPConnection({"type": "http", "headers": raw, "client": client})


@pytest.mark.parametrize("peer", ["127.0.0.1", "127.9.9.9", "::1"])
def test_this_machine(peer: str) -> None:
    """Loopback peers are let in."""
    admit_loopback(connection(peer))


@pytest.mark.parametrize("peer", ["192.0.2.1", "10.0.0.1", "2001:db8::1", "0.0.0.0", "unknown", "", None])
def test_other_peers(peer: str | None) -> None:
    """The peer's address counts, whatever Host it names."""
    with pytest.raises(Forbidden, match="its own machine only"):
        admit_loopback(connection(peer))


def test_forwarded() -> None:
    """A proxy on this machine brings others."""
    with pytest.raises(Forbidden, match="no forwarded requests"):
        admit_loopback(connection("127.0.0.1", x_forwarded_for="127.0.0.1"))
