"""Each request gets an id, is watched, and answers with its id."""

import re
from collections.abc import Mapping

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from stello_graph.ids import new_id
from stello_graph.ports.observing import Fact, Kind, Observers

__all__ = ["REQUEST_ID", "Observed"]

REQUEST_ID = "X-Request-ID"

# What a proxy or a client may choose: nothing that could pass for another line or field of a log.
_SANE = re.compile(r"[A-Za-z0-9._:/+=@-]{1,128}")
_ROUTES = {"/", "/graphql", "/import", "/healthz", "/readyz", "/metrics"}


class Observed:
    """ASGI middleware, outside all others."""

    def __init__(self, app: ASGIApp, observers: Observers) -> None:
        self._app = app
        self._observers = observers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """See ASGI."""
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        id = _request_id(Headers(scope=scope))
        kind = Kind.REQUEST if scope["type"] == "http" else Kind.SOCKET
        facts: dict[str, Fact] = {"method": str(scope.get("method", "GET"))}
        if traced := Headers(scope=scope).get("traceparent"):
            facts["traceparent"] = traced
        with self._observers.watch(kind, _route(scope), ids={"request": id}, facts=facts) as work:

            async def answer(message: Message) -> None:
                if message["type"] in ("http.response.start", "websocket.accept"):
                    MutableHeaders(scope=message)[REQUEST_ID] = id
                    work.facts["status"] = message.get("status", 101)
                elif message["type"] == "websocket.close":
                    work.facts["status"] = message.get("code", 1000)
                await send(message)

            try:
                await self._app(scope, receive, answer)
            except Exception:
                work.facts["status"] = 500
                raise


def _request_id(headers: Mapping[str, str]) -> str:
    given = headers.get(REQUEST_ID.lower(), "")
    return given if _SANE.fullmatch(given) else new_id()


def _route(scope: Scope) -> str:
    """One of a few names, whatever is asked for."""
    path = str(scope["path"]).removeprefix(scope.get("root_path", "")).rstrip("/") or "/"
    if path in _ROUTES:
        return path
    return "/static" if path.startswith("/static/") else "other"
