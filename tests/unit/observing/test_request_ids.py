"""Each request has an id, and answers with it."""

from collections.abc import Iterator

import pytest

from tests.unit.observing.scenario import Played, served

SANE = "7f6a-Proxy.1:2/3+4=@_"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    with served(tmp_path_factory.mktemp("ids")) as played:
        yield played


def answered(played: Played, path: str, headers: dict[str, str] | None = None) -> str:
    found: str = played.client.get(path, headers=headers).headers["x-request-id"]
    return found


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/nowhere", "/graphql", "/metrics"])
def test_a_sane_one_is_kept(played: Played, path: str) -> None:
    """Whoever sent it finds its request again, whatever became of it."""
    assert answered(played, path, {"X-Request-ID": SANE}) == SANE


@pytest.mark.parametrize("given", ["", " ", "a b", "x" * 129, 'a"b', "a{b", "a=1\tb", "é"])
def test_any_other_gets_a_new_one(played: Played, given: str) -> None:
    """Nothing that could pass for something else in a log."""
    headers = {b"X-Request-ID": given.encode("latin-1")}
    first, second = (played.client.get("/healthz", headers=headers).headers["x-request-id"] for _ in "ab")

    assert len({first, second, given}) == 3
    assert first.isalnum()


def test_none_gets_a_new_one(played: Played) -> None:
    """Each request its own."""
    assert answered(played, "/healthz") != answered(played, "/healthz")


def test_of_a_socket(played: Played) -> None:
    """A WebSocket has one for all its operations, in the answer to its handshake."""
    with played.client.websocket_connect(
        "/graphql", subprotocols=["graphql-transport-ws"], headers={"X-Request-ID": "socket-1"}
    ) as socket:
        assert (b"x-request-id", b"socket-1") in list(vars(socket)["extra_headers"])
