import socket
from typing import Any

import pytest

from stello_graph.errors import InvalidInput
from stello_graph.workers import _bind

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

    (bound,) = _bind("localhost", 0)
    with bound:
        assert bound.getsockname()[0] == HERE


def test_no_address_that_the_machine_has(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing can be listened on."""
    known_as(monkeypatch, ELSEWHERE)

    with pytest.raises(InvalidInput, match="cannot be listened on"):
        _bind("elsewhere", 0)
