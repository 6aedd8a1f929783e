"""Spans by OpenTelemetry: the extra `stello-graph[otel]`. Nothing else imports it.

An application that has set a tracer provider keeps it. Otherwise spans go by OTLP over HTTP to where the
standard variables say, such as OTEL_EXPORTER_OTLP_ENDPOINT and OTEL_SERVICE_NAME.
"""

from typing import Final

from opentelemetry import trace
from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
from opentelemetry.sdk.resources import SERVICE_NAME, OTELResourceDetector, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace import TracerProvider as AnyProvider
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator

from stello_graph.ports.observing import Kind, Work

__all__ = ["Spans"]

_KINDS: Final = {
    Kind.REQUEST: SpanKind.SERVER,
    Kind.SOCKET: SpanKind.SERVER,
    Kind.MODEL_CALL: SpanKind.CLIENT,
    Kind.QUERY: SpanKind.CLIENT,
}
# Outcomes that are no fault of the work itself.
_WELL: Final = {"OK", "COMPLETED", "CANCELLED", "AWAITING_CONFIRMATION", "DONE", "VOID", "GIVEN_BACK"}
_HEADER: Final = "traceparent"


class Spans:
    """An observer that makes a span of each piece of work, without contents."""

    def __init__(self, provider: AnyProvider | None = None) -> None:
        """
        Args:
            provider: None takes the application's, else sets one up.
        """
        self._tracer = (provider or _provider()).get_tracer("stello_graph")
        self._spans: dict[Work, Span] = {}

    def begins(self, work: Work) -> None:
        """See Observer."""
        if work.kind is Kind.LOOP:
            return
        parent = None if work.parent is None else self._spans.get(work.parent)
        if parent is not None:
            context = trace.set_span_in_context(parent)
        elif _HEADER in work.facts and not trace.get_current_span().get_span_context().is_valid:
            context = TraceContextTextMapPropagator().extract({_HEADER: str(work.facts[_HEADER])})
        else:
            context = None
        name = f"{work.kind} {work.name}"
        self._spans[work] = self._tracer.start_span(name, context, _KINDS.get(work.kind, SpanKind.INTERNAL))

    def ends(self, work: Work) -> None:
        """See Observer."""
        span = self._spans.pop(work, None)
        if span is None:
            return
        told = {**work.ids, **work.facts, "outcome": work.outcome}
        span.set_attributes({f"stello.{name}": value for name, value in told.items() if name != _HEADER})
        if work.outcome not in _WELL:
            span.set_status(Status(StatusCode.ERROR, work.outcome))
        span.end()


def _provider() -> AnyProvider:
    known = trace.get_tracer_provider()
    if not isinstance(known, trace.ProxyTracerProvider):
        return known
    named = Resource({SERVICE_NAME: "stello-graph"}).merge(OTELResourceDetector().detect())
    made = TracerProvider(resource=Resource.create().merge(named))
    made.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
    trace.set_tracer_provider(made)
    return made
