"""Who may ask: one way in for HTTP and WebSocket.

Without any key that ever was: this machine alone, and nothing that came through a proxy. From the first
key on: whoever has one. Or an embedding application tells.
"""

import asyncio
import inspect
import ipaddress
import re
from collections.abc import Awaitable, Callable, Mapping
from functools import lru_cache
from typing import Any, Final

from starlette.requests import HTTPConnection

from stello_graph.errors import Forbidden, StoreUnavailable, Unauthenticated
from stello_graph.ids import DEFAULT_SPACE, check_space_id
from stello_graph.model.values import KeyScope, Viewer
from stello_graph.service import StelloGraph

__all__ = ["EMBEDDED", "SERVED", "Access", "Authenticate", "admit_loopback"]

Payload = Mapping[str, Any]
Authenticate = Callable[[HTTPConnection, Payload], Awaitable[Viewer | None] | Viewer | None]

# Headers by which proxies tell for whom they ask; any that begins with one of these.
_FORWARDED = (
    "forwarded", "via", "x-forwarded", "x-original-", "x-real-ip", "x-client-ip", "x-cluster-client-ip",
    "true-client-ip", "cf-connecting-ip", "fastly-client-ip", "x-envoy-external-address",
)  # fmt: skip
_HOST = re.compile(r"(?:\[([^\[\]]+)\]|([^\[\]:]+))(?::\d*)?")
# What makes others welcome, where there are no keys.
SERVED: Final = "make one with stello-graph keys create"
EMBEDDED: Final = "the application lets others in by its own authenticate, or by a key"

_KEYLESS = Viewer(space_id=DEFAULT_SPACE, scope=KeyScope.ADMIN)


class Access:
    """Tells who asks, and when that is over."""

    def __init__(
        self, graph: StelloGraph, authenticate: Authenticate | None = None, *, advice: str = EMBEDDED
    ) -> None:
        """Takes `authenticate` in place of keys and of the rules without keys, where it is given.

        Args:
            advice: told to who is refused without keys.
        """
        self._graph = graph
        self._keyring = graph.keyring
        self._origins = frozenset(origin.rstrip("/").lower() for origin in graph.settings.allowed_origins)
        self._authenticate = authenticate
        self._advice = advice

    async def admit(self, connection: HTTPConnection) -> None:
        """Refuses a connection, whatever it carries; before, opens the service where no lifespan did.

        Raises:
            Forbidden: it may not come in.
            StoreUnavailable: the service cannot be opened, or nobody knows whether it may.
        """
        await self._graph.ensure_open()
        if self._authenticate is None and not await self._keyring.in_use():
            admit_loopback(connection, self._origins, advice=self._advice)

    async def viewer(self, connection: HTTPConnection, payload: Payload | None = None) -> Viewer:
        """Who asks, by the headers, or on a WebSocket by the payload of connection_init.

        Raises:
            Unauthenticated: nobody whom we know.
            StoreUnavailable: it cannot be told now.
        """
        if self._authenticate is not None:
            found = self._authenticate(connection, {} if payload is None else payload)
            return _checked(await found if inspect.isawaitable(found) else found)
        if not await self._keyring.in_use():
            return _KEYLESS
        return await self._keyring.viewer(_bearer(connection.headers if payload is None else payload))

    async def operator(self, connection: HTTPConnection) -> None:
        """Lets in who operates the server: without keys this machine, else an OPERATOR's key alone.

        Raises:
            Unauthenticated: nobody whom we know. Forbidden: somebody else.
            StoreUnavailable: it cannot be told now.
        """
        await self.admit(connection)
        viewer = await self.viewer(connection)
        if viewer is not _KEYLESS and viewer.scope is not KeyScope.OPERATOR:
            raise Forbidden(f"this needs the scope {KeyScope.OPERATOR}")

    async def until_refused(
        self, viewer: Viewer, connection: HTTPConnection, payload: Payload | None = None
    ) -> None:
        """Returns, within twice `key_seconds`, once the connection would not be let in as `viewer`."""
        while True:
            await asyncio.sleep(self._keyring.seconds)
            try:
                if await self.viewer(connection, payload) != viewer:
                    return
            except (Unauthenticated, Forbidden):
                return
            except StoreUnavailable:
                continue


def admit_loopback(
    connection: HTTPConnection, allowed_origins: frozenset[str] = frozenset(), *, advice: str = EMBEDDED
) -> None:
    """Loopback peers, loopback Host names, no forwarding, no page of another origin. Raises Forbidden."""
    headers = connection.headers
    if connection.client is None or not _is_loopback(connection.client.host):
        raise Forbidden(f"without keys this server answers to its own machine only: {advice}")
    if not _is_loopback(_host_name(headers.get("host", ""))):
        raise Forbidden("without keys this server answers to loopback host names only, such as localhost")
    if any(name.lower().replace("_", "-").startswith(_FORWARDED) for name in headers):
        raise Forbidden(f"without keys this server answers no forwarded requests: {advice}")
    origin = headers.get("origin", "").lower()
    if origin and origin not in allowed_origins and origin.partition("://")[2] != headers["host"].lower():
        raise Forbidden(
            "without keys this server answers no pages of other origins: see STELLO_ALLOWED_ORIGINS"
        )


def _checked(viewer: object) -> Viewer:
    """What an application's function told, if it can be."""
    if viewer is None:
        raise Unauthenticated("valid credentials are needed")
    if not isinstance(viewer, Viewer) or (viewer.scope is KeyScope.OPERATOR) != (viewer.space_id is None):
        raise TypeError("authenticate returns a Viewer: with a Space, or without one as OPERATOR, or None")
    if viewer.space_id is not None:
        check_space_id(viewer.space_id)
    return viewer


def _bearer(headers: Payload) -> str | None:
    """The credentials of an `Authorization: Bearer …`, whatever the case of its name."""
    for name, value in headers.items():
        if name.lower() == "authorization" and isinstance(value, str):
            kind, _, credentials = value.partition(" ")
            return credentials.strip() if kind.lower() == "bearer" else None
    return None


def _host_name(host: str) -> str:
    """The name without its port; empty where it is no Host."""
    found = _HOST.fullmatch(host)
    return "" if found is None else found[1] or found[2]


# The same few peers and host names ask again and again.
@lru_cache(256)
def _is_loopback(name: str) -> bool:
    if name.lower().rstrip(".") == "localhost":
        return True
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return False
