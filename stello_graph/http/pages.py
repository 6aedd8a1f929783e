"""The pages of the server and what they load, with the headers that keep them to this origin.

A page refers to its files as `static/...`, relative to its own address: with the page at
`<prefix>/graphql` and `static_mount()` beside it, both work under any prefix. No page asks
another host for anything.
"""

import os
from typing import Final

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount
from starlette.staticfiles import StaticFiles
from starlette.types import Scope

from stello_graph.http.assets import web_root

SERVED_FOLDERS: Final = ("graphiql", "star-map", "vendor")

_ALWAYS: Final = "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

# To 'self' belongs the WebSocket of this origin. Browsers from before 2022 do not think so: with them changes
# come as server-sent events.
STAR_MAP_POLICY: Final = (
    "default-src 'none'; "
    "script-src 'self'; "
    "style-src 'self'; "
    "img-src 'self' data:; "
    "connect-src 'self'; " + _ALWAYS
)

# GraphiQL's editor writes style elements, its style sheet has its fonts in data:.
# It has no way but a WebSocket, which browsers from before 2022 need ws: and wss: for.
GRAPHIQL_POLICY: Final = (
    "default-src 'none'; "
    "script-src 'self'; "
    "style-src 'self' 'unsafe-inline'; "
    "font-src 'self' data:; "
    "img-src 'self' data:; "
    "connect-src 'self' ws: wss:; "
    "worker-src 'self'; " + _ALWAYS
)

HEADERS: Final = {
    "Content-Security-Policy": STAR_MAP_POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cache-Control": "no-cache",
}


class _WebFiles(StaticFiles):
    """Files with our headers; kept by browsers, which ask by ETag whether they hold."""

    def file_response(
        self,
        full_path: "str | os.PathLike[str]",
        stat_result: os.stat_result,
        scope: Scope,
        status_code: int = 200,
    ) -> Response:
        response = super().file_response(full_path, stat_result, scope, status_code)
        response.headers.update(HEADERS)
        return response


class _Assets(_WebFiles):
    """What pages load, without the pages: their relative addresses hold only at their routes."""

    def lookup_path(self, path: str) -> tuple[str, os.stat_result | None]:
        if path.lower().endswith(".html"):
            return "", None
        return super().lookup_path(path)


async def graphiql_page(request: Request) -> Response:
    """GraphiQL, for a GET by a browser on the GraphQL path itself.

    Args:
        request: A GET or HEAD request; its `If-None-Match` is honoured.

    Returns:
        The page, or 304 where the browser's copy is current. Where the path ends in a slash, from which the
        page's relative addresses would lead astray, the way to the path without.
    """
    if request.url.path.endswith("/"):
        return RedirectResponse("../graphql")
    response = await _WebFiles(directory=web_root()).get_response("graphiql/index.html", request.scope)
    response.headers["Content-Security-Policy"] = GRAPHIQL_POLICY
    response.headers["Vary"] = "Accept"
    return response


async def star_map_page(request: Request) -> Response:
    """The star map, for a GET of the root of the application, beside the GraphQL path.

    Args:
        request: A GET or HEAD request; its `If-None-Match` is honoured.

    Returns:
        The page, or 304 where the browser's copy is current.
    """
    return await _WebFiles(directory=web_root()).get_response("star-map/index.html", request.scope)


def static_mount(path: str = "/static") -> Mount:
    """The files that pages load, and nothing else of the web folder.

    Args:
        path: Where to mount them, beside the GraphQL path; the pages expect `static`.

    Returns:
        A mount for a Starlette application or router.
    """
    root = web_root()
    folders = [Mount(f"/{name}", app=_Assets(directory=root / name), name=name) for name in SERVED_FOLDERS]
    return Mount(path, routes=folders, name="static")
