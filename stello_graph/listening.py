"""Where connections come in: the sockets, and the address that a person opens."""

import errno
import ipaddress
import socket
from typing import Any, Final

from stello_graph.errors import InvalidInput

__all__ = ["bind", "listens_everywhere", "opened_at"]

_NOT_HERE: Final = {errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT}


def opened_at(host: str) -> str:
    """The host as it stands in a URL: of all interfaces this machine's own, which a browser can open."""
    if listens_everywhere(host):
        return "[::1]" if ":" in host else "127.0.0.1"
    return f"[{host}]" if ":" in host else host


def listens_everywhere(host: str) -> bool:
    """Whether an address stands for all interfaces."""
    try:
        return ipaddress.ip_address(host).is_unspecified
    except ValueError:
        return not host


def bind(host: str, port: int) -> list[socket.socket]:
    """A socket for each address of the host, all of one port, on which nobody listens yet.

    Addresses that this machine does not have, such as those of IPv6, are left out where there is another.

    Raises:
        InvalidInput: none of them can be listened on.
    """
    bound: list[socket.socket] = []
    missing: OSError | None = None
    try:
        for family, _, protocol, _, address in socket.getaddrinfo(
            host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        ):
            same = port or (bound[0].getsockname()[1] if bound else 0)
            try:
                bound.append(_bound(family, protocol, (address[0], same, *address[2:])))
            except OSError as error:
                if error.errno not in _NOT_HERE:
                    raise
                missing = error
        if missing is not None and not bound:
            raise missing
    except OSError as error:
        for one in bound:
            one.close()
        raise InvalidInput(_refused(host, port, error)) from None
    return bound


def _bound(family: int, protocol: int, address: tuple[Any, ...]) -> socket.socket:
    one = socket.socket(family, socket.SOCK_STREAM, protocol)
    try:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            one.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        one.bind(address)
    except OSError:
        one.close()
        raise
    return one


def _refused(host: str, port: int, error: OSError) -> str:
    if error.errno == errno.EADDRINUSE:
        return (
            f"port {port} of {host} is in use already: choose another by --port (0: any free one), "
            f"or see who holds it by lsof -i :{port}"
        )
    return f"{host}, port {port}, cannot be listened on: {error.strerror}"
