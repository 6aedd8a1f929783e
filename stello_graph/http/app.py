"""The whole app."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.applications import Starlette
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.middleware.gzip import DEFAULT_EXCLUDED_CONTENT_TYPES, GZipMiddleware
from starlette.routing import BaseRoute, Route, WebSocketRoute

from stello_graph.http.access import EMBEDDED, SERVED, Access, Authenticate
from stello_graph.http.health import Health
from stello_graph.http.imports import LINES, Imports
from stello_graph.http.metrics import Metrics, MetricsPage
from stello_graph.http.observed import REQUEST_ID, Observed
from stello_graph.http.pages import star_map_page, static_mount
from stello_graph.http.rates import Rates
from stello_graph.http.view import GraphQLView
from stello_graph.service import StelloGraph

__all__ = ["app_of"]


def app_of(graph: StelloGraph, *, opens: bool = True, authenticate: Authenticate | None = None) -> Starlette:
    """A Starlette app that serves `graph`, which is its `state.graph`.

    Args:
        opens: whether the app's lifespan opens the service and closes it. Where no lifespan did, the first
            request opens it. `stello-graph serve` opens it by itself.
        authenticate: tells who asks, in place of keys.
    """

    @asynccontextmanager
    async def lifespan(_app: Starlette) -> AsyncIterator[None]:
        async with graph:
            yield

    access = Access(graph, authenticate, advice=EMBEDDED if opens else SERVED)
    metrics = Metrics(_connections(graph))
    graph.observers.add(metrics)
    app = Starlette(
        routes=_routes(graph, access, metrics),
        middleware=_middleware(graph),
        lifespan=lifespan if opens else None,
    )
    app.state.graph = graph
    app.state.metrics = metrics
    return app


def _routes(graph: StelloGraph, access: Access, metrics: Metrics) -> list[BaseRoute]:
    settings, health, rates = graph.settings, Health(graph), Rates(graph.settings.rate_limit)
    view = GraphQLView(
        graph,
        access,
        rates,
        allowed_origins=settings.allowed_origins,
        max_body_bytes=settings.max_body_bytes,
    )
    imports = Imports(graph, access, rates)
    # Starlette would redirect a slash at the end by 307, after which many clients send no body.
    return [
        Route("/", star_map_page),
        *(Route(path, view) for path in ("/graphql", "/graphql/")),
        *(WebSocketRoute(path, view) for path in ("/graphql", "/graphql/")),
        *(Route(path, imports) for path in ("/import", "/import/")),
        Route("/healthz", health.alive),
        Route("/readyz", health.ready),
        Route("/metrics", MetricsPage(metrics, access).tell),
        static_mount(),
    ]


def _connections(graph: StelloGraph) -> dict[str, int]:
    """How many queries the store runs at once, by access."""
    if graph.settings.sqlite_path is not None:
        return {"read": graph.settings.sqlite_readers, "write": 1}
    return {"read": graph.settings.neo4j_pool_size, "write": graph.settings.neo4j_pool_size}


def _middleware(graph: StelloGraph) -> list[Middleware]:
    origins = graph.settings.allowed_origins
    cors = Middleware(
        CORSMiddleware,
        allow_origins=list(origins),
        allow_methods=["GET", "POST"],
        allow_headers=["Authorization", "Content-Type", REQUEST_ID],
        expose_headers=[REQUEST_ID],
        max_age=600,
    )
    watched = Middleware(Observed, observers=graph.observers)
    return [
        watched,
        *([cors] if origins else []),
        Middleware(
            GZipMiddleware,
            minimum_size=1_400,
            compresslevel=4,
            exclude_content_types=(*DEFAULT_EXCLUDED_CONTENT_TYPES, LINES),
        ),
    ]
