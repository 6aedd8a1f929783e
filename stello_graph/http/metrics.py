"""`/metrics` for Prometheus: an observer that counts, and the page that tells.

Nothing is counted by Space, session or what a client can name, so the number of series is bounded.
With several worker processes each counts into files of one folder, PROMETHEUS_MULTIPROC_DIR, and whichever
is asked tells the sum.
"""

import os
from collections.abc import Iterator, Mapping
from importlib.metadata import version
from typing import Final

from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    Metric,
    ProcessCollector,
    generate_latest,
)
from prometheus_client.multiprocess import MultiProcessCollector
from prometheus_client.registry import Collector
from starlette.requests import Request
from starlette.responses import Response

from stello_graph.errors import StelloError
from stello_graph.http.access import Access
from stello_graph.http.answers import refusal
from stello_graph.ports.observing import Kind, Work

__all__ = ["Metrics", "MetricsPage"]

SHARED: Final = "PROMETHEUS_MULTIPROC_DIR"

_FAST: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_SLOW: Final = (0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0, 600.0)
_TOKENS: Final = {
    "input_tokens": "input",
    "output_tokens": "output",
    "cache_read_tokens": "cache_read",
    "cache_write_tokens": "cache_write",
}


class Metrics:
    """Counts what is done, for one app."""

    def __init__(self, connections: Mapping[str, int]) -> None:
        """
        Args:
            connections: how many queries run at once, by access: read, write.
        """
        self.registry = CollectorRegistry()
        self._requests = self._counter(
            "http_requests", "HTTP requests by route and status", "route", "status"
        )
        self._request_seconds = self._histogram("http_request_seconds", "Their duration", "route")
        self._operations = self._counter(
            "operations", "GraphQL operations by type and outcome: OK or an error's code", "type", "outcome"
        )
        self._operation_seconds = self._histogram("operation_seconds", "Their duration", "type")
        self._turns = self._counter("turns", "Turns that this process ran, by status", "status")
        self._turn_seconds = self._histogram("turn_seconds", "Their duration", buckets=_SLOW)
        self._calls = self._counter(
            "model_calls", "Model calls by provider and outcome: OK or an error's code", "provider", "outcome"
        )
        self._call_seconds = self._histogram(
            "model_call_seconds", "Their duration", "provider", buckets=_SLOW
        )
        self._tokens = self._counter("model_tokens", "Tokens as the provider counts", "provider", "kind")
        self._query_seconds = self._histogram("query_seconds", "Duration of named queries", "query")
        self._query_errors = self._counter("query_errors", "Queries that failed", "query", "outcome")
        self._tasks = self._counter("tasks", "Background tasks by kind and outcome", "kind", "outcome")
        self._task_seconds = self._histogram("task_seconds", "Their duration", "kind", buckets=_SLOW)
        self._lag = self._histogram("event_loop_lag_seconds", "How late the event loop is, once a second")
        self._running = {
            Kind.REQUEST: self._gauge("http_requests_running", "HTTP requests that are being answered"),
            Kind.SOCKET: self._gauge("sockets_open", "Open WebSockets"),
            Kind.TURN: self._gauge("turns_running", "Turns that run in this process"),
            Kind.MODEL_CALL: self._gauge("model_calls_running", "Model calls that run"),
            Kind.TASK: self._gauge("tasks_running", "Background tasks that run"),
        }
        self._subscriptions = self._gauge("subscriptions_open", "Open subscriptions")
        self._queries = self._gauge(
            "queries_running", "Queries that run or wait for a connection of the store", "access"
        )
        room = self._gauge("store_connections", "Queries that the store runs at once at most", "access")
        for access, most in connections.items():
            room.labels(access).set(most)
        self._gauge("info", "The version that runs", "version").labels(version("stello-graph")).set(1)
        if SHARED not in os.environ:
            ProcessCollector(registry=self.registry)

    def begins(self, work: Work) -> None:
        """See Observer."""
        self._now(work, 1)

    def ends(self, work: Work) -> None:
        """See Observer."""
        self._now(work, -1)
        match work.kind:
            case Kind.REQUEST:
                self._requests.labels(work.name, str(work.facts.get("status", 499))).inc()
                self._request_seconds.labels(work.name).observe(work.seconds)
            case Kind.OPERATION:
                self._operations.labels(work.name, work.outcome).inc()
                self._operation_seconds.labels(work.name).observe(work.seconds)
            case Kind.TURN:
                self._turns.labels(work.outcome).inc()
                self._turn_seconds.observe(work.seconds)
            case Kind.MODEL_CALL:
                self._called(work)
            case Kind.QUERY:
                self._query_seconds.labels(work.name).observe(work.seconds)
                if work.outcome != "OK":
                    self._query_errors.labels(work.name, work.outcome).inc()
            case Kind.TASK:
                self._tasks.labels(work.name, work.outcome).inc()
                self._task_seconds.labels(work.name).observe(work.seconds)
            case Kind.LOOP:
                self._lag.observe(work.seconds)

    def text(self) -> bytes:
        """All metrics in Prometheus' text format, of all worker processes where there are several."""
        if SHARED not in os.environ:
            return generate_latest(_Lasting(self.registry))
        together = CollectorRegistry()
        MultiProcessCollector(together)  # type: ignore[no-untyped-call]
        return generate_latest(_Lasting(together))

    def _now(self, work: Work, change: int) -> None:
        if work.kind is Kind.QUERY:
            self._queries.labels(work.facts["access"]).inc(change)
        elif work.kind is Kind.OPERATION and work.name == "subscription":
            self._subscriptions.inc(change)
        elif (gauge := self._running.get(work.kind)) is not None:
            gauge.inc(change)

    def _called(self, work: Work) -> None:
        self._calls.labels(work.name, work.outcome).inc()
        self._call_seconds.labels(work.name).observe(work.seconds)
        for fact, kind in _TOKENS.items():
            if fact in work.facts:
                self._tokens.labels(work.name, kind).inc(float(work.facts[fact]))

    def _counter(self, name: str, help: str, *labels: str) -> Counter:
        return Counter(f"stello_{name}", help, labels, registry=self.registry)

    def _gauge(self, name: str, help: str, *labels: str) -> Gauge:
        return Gauge(f"stello_{name}", help, labels, registry=self.registry, multiprocess_mode="livesum")

    def _histogram(self, name: str, help: str, *labels: str, buckets: tuple[float, ...] = _FAST) -> Histogram:
        return Histogram(f"stello_{name}", help, labels, registry=self.registry, buckets=buckets)


class _Lasting(Collector):
    """A registry without the times at which its series were made: they would double what is told."""

    def __init__(self, registry: CollectorRegistry) -> None:
        self._registry = registry

    def collect(self) -> Iterator[Metric]:
        """See Collector."""
        for family in self._registry.collect():
            family.samples = [sample for sample in family.samples if not sample.name.endswith("_created")]
            yield family


class MetricsPage:
    """`/metrics`, for those who operate the server."""

    def __init__(self, metrics: Metrics, access: Access) -> None:
        self._metrics = metrics
        self._access = access

    async def tell(self, request: Request) -> Response:
        """All metrics, or why not."""
        try:
            await self._access.operator(request)
        except StelloError as error:
            return refusal(error)
        return Response(self._metrics.text(), headers={"Content-Type": CONTENT_TYPE_LATEST})
