"""Who may ask. Without any key: this machine alone, and nothing that came through a proxy."""

import hmac
import ipaddress
from collections.abc import Mapping
from typing import Any, Protocol

from starlette.requests import HTTPConnection

from stello_graph.errors import Forbidden, Unauthenticated
from stello_graph.ids import DEFAULT_SPACE
from stello_graph.model.values import KeyScope, Viewer

__all__ = ["Access", "KeyAccess", "LoopbackAccess", "bearer"]

_FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


class Access(Protocol):
    """Tells who asks."""

    def admit(self, connection: HTTPConnection) -> None:
        """Refuses a connection, whatever it carries. Raises Forbidden."""
        ...

    def viewer(self, credentials: str | None) -> Viewer:
        """Who has these credentials, the text after `Bearer`. Raises Unauthenticated."""
        ...


class LoopbackAccess:
    """No keys: loopback clients are ADMIN of the Space `default`."""

    def __init__(self, allowed_origins: tuple[str, ...] = ()) -> None:
        self._allowed_origins = {origin.rstrip("/").lower() for origin in allowed_origins}

    def admit(self, connection: HTTPConnection) -> None:
        """Loopback peers, loopback Host names, no forwarding, no page of another origin."""
        headers = connection.headers
        if connection.client is None or not _is_loopback(connection.client.host):
            raise Forbidden(
                "without keys this server answers to its own machine only: set STELLO_BOOTSTRAP_KEY"
            )
        if not _is_loopback(_host_name(headers.get("host", ""))):
            raise Forbidden("without keys this server answers to loopback host names only, such as localhost")
        if any(name in headers for name in _FORWARDED):
            raise Forbidden(
                "without keys this server answers no forwarded requests: set STELLO_BOOTSTRAP_KEY"
            )
        origin = headers.get("origin")
        if origin is not None and not self._is_ours(origin, headers.get("host", "")):
            raise Forbidden(
                "without keys this server answers no pages of other origins: see STELLO_ALLOWED_ORIGINS"
            )

    def viewer(self, credentials: str | None) -> Viewer:
        """ADMIN, whatever the credentials."""
        return Viewer(space_id=DEFAULT_SPACE, scope=KeyScope.ADMIN)

    def _is_ours(self, origin: str, host: str) -> bool:
        return origin.lower() in self._allowed_origins or origin.partition("://")[2].lower() == host.lower()


class KeyAccess:
    """One key, from the environment, that makes its holder ADMIN of the Space `default`."""

    def __init__(self, key: str) -> None:
        self._key = key.encode()

    def admit(self, connection: HTTPConnection) -> None:
        """Everybody may knock."""

    def viewer(self, credentials: str | None) -> Viewer:
        """The holder of the key."""
        if credentials is None or not hmac.compare_digest(credentials.encode(), self._key):
            raise Unauthenticated("a valid key is needed: Authorization: Bearer …")
        return Viewer(space_id=DEFAULT_SPACE, key_name="bootstrap", scope=KeyScope.ADMIN)


def bearer(headers: Mapping[str, Any]) -> str | None:
    """The credentials of an `Authorization: Bearer …`, whatever the case of its name."""
    for name, value in headers.items():
        if name.lower() == "authorization" and isinstance(value, str):
            kind, _, credentials = value.partition(" ")
            return credentials.strip() if kind.lower() == "bearer" else None
    return None


def _host_name(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]


def _is_loopback(name: str) -> bool:
    if name.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
