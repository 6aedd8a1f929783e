"""Who may ask without any key: this machine, by its loopback names, and nothing that was forwarded."""

import pytest
from starlette.requests import HTTPConnection

from stello_graph.errors import Forbidden
from stello_graph.http.access import SERVED, admit_loopback


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
    with pytest.raises(Forbidden, match=f"its own machine only: {SERVED}"):
        admit_loopback(connection(peer), advice=SERVED)
    with pytest.raises(Forbidden, match="its own authenticate") as refused:
        admit_loopback(connection(peer))
    assert "stello-graph" not in refused.value.message


@pytest.mark.parametrize(
    "header",
    [
        "Forwarded", "Via", "X-Forwarded", "X-Forwarded-For", "X-Forwarded-Port", "X-Forwarded-Server",
        "x_forwarded_for", "X-Forwarded-Prefix", "X-Real-IP", "X-Client-IP", "X-Cluster-Client-IP",
        "X-Original-Forwarded-For", "X-Original-Host", "True-Client-IP", "CF-Connecting-IP",
        "X-Envoy-External-Address",
    ],
)  # fmt: skip
def test_forwarded(header: str) -> None:
    """A proxy on this machine brings others, whichever way it says so."""
    given = [(b"host", b"localhost:8000"), (header.lower().encode(), b"127.0.0.1")]
    asked = HTTPConnection({"type": "http", "headers": given, "client": ("127.0.0.1", 50_000)})
    with pytest.raises(Forbidden, match="no forwarded requests"):
        admit_loopback(asked)


@pytest.mark.parametrize(
    "host", ["localhost", "LOCALHOST:80", "localhost.:8000", "127.0.0.1:1", "[::1]", "[::1]:8000"]
)
def test_names_of_this_machine(host: str) -> None:
    """With a port or without."""
    admit_loopback(connection("127.0.0.1", host=host))


@pytest.mark.parametrize(
    "host",
    [
        "", "example.org", "localhost.example.org", "127.0.0.1.example.org", "localhost@example.org", "::1",
        "localhost:80@example.org", "localhost:example.org", "[::1]example.org", "[::1]:80:90", "[::1",
        "127.1", "2130706433", "0.0.0.0", "[::]", "localhost, example.org", "localhost/",
    ],
)  # fmt: skip
def test_other_names(host: str) -> None:
    """A page of another site whose name was bound to this machine's address gets nothing."""
    with pytest.raises(Forbidden, match="loopback host names only"):
        admit_loopback(connection("127.0.0.1", host=host))


@pytest.mark.parametrize(
    "origin",
    [
        "null",
        "http://example.org",
        "http://localhost:9000",
        "localhost:8000",
        "http://localhost:8000.example.org",
    ],
)
def test_pages_of_other_origins(origin: str) -> None:
    """Not even those of another port, or of a sandbox."""
    with pytest.raises(Forbidden, match="other origins"):
        admit_loopback(connection("127.0.0.1", origin=origin))
    admit_loopback(connection("127.0.0.1", origin="http://localhost:8000"))
