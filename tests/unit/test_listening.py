import socket
from typing import Any

import pytest

from stello_graph.errors import InvalidInput
from stello_graph.listening import bind, opened_at

HERE, ELSEWHERE = "127.0.0.1", "192.0.2.1"


def known_as(monkeypatch: pytest.MonkeyPatch, *addresses: str) -> None:
    """What the name of the host stands for."""
    found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (address, 0)) for address in addresses]

    def getaddrinfo(*_: Any, **__: Any) -> list[Any]:
        return found

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)


def test_an_address_that_the_machine_has_not(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is left out where there is another, such as ::1 of localhost on a machine without IPv6."""
    known_as(monkeypatch, ELSEWHERE, HERE)

    (bound,) = bind("localhost", 0)
    with bound:
        assert bound.getsockname()[0] == HERE


def test_no_address_that_the_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be listened on."""
    known_as(monkeypatch, ELSEWHERE)

    with pytest.raises(InvalidInput, match="cannot be listened on"):
        bind("elsewhere", 0)


@pytest.mark.parametrize(
    ("host", "opened"),
    [
        ("127.0.0.1", "127.0.0.1"),
        ("localhost", "localhost"),
        ("192.0.2.1", "192.0.2.1"),
        ("2001:db8::1", "[2001:db8::1]"),
        ("0.0.0.0", "127.0.0.1"),
        ("", "127.0.0.1"),
        ("::", "[::1]"),
        ("0::0", "[::1]"),
    ],
)
def test_an_address_that_can_be_opened(host: str, opened: str) -> None:
    """No browser opens the address of all interfaces."""
    assert opened_at(host) == opened
