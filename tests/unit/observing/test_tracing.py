"""Spans of what is done, hung together, without contents; nothing of it where it is not asked for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

from stello_graph.bootstrap import build
from stello_graph.errors import InvalidInput
from stello_graph.settings import Settings
from stello_graph.tracing import Spans
from tests.unit.observing.scenario import SECRET, play, served

CALLER = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"


def spans_of(folder: Path) -> list[ReadableSpan]:
    exporter, provider = InMemorySpanExporter(), TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(exporter))
    with served(folder, observers=[Spans(provider)]) as played:
        play(played)
        played.ask("query Traced { me { scope } }", {"traceparent": CALLER})
        played.until(
            lambda: any(span.name == "task CONSOLIDATE" for span in exporter.get_finished_spans()),
            "the task has run",
        )
    return list(exporter.get_finished_spans())


def test_spans_of_a_scenario(tmp_path: Path) -> None:
    """Request, operation, turn, model call and queries are one trace; outcomes are its statuses."""
    spans = spans_of(tmp_path)
    known = {span.context.span_id: span for span in spans if span.context}

    def ancestors(span: ReadableSpan) -> list[str]:
        found = []
        parent = span.parent and known.get(span.parent.span_id)
        while parent:
            found.append(parent.name)
            parent = parent.parent and known.get(parent.parent.span_id)
        return found

    by_name = {name: [span for span in spans if span.name == name] for name in {span.name for span in spans}}
    calls = by_name["model_call scripted"]
    assert [ancestors(call) for call in calls] == [
        ["turn turn", "operation mutation", "request /graphql"]
    ] * 3
    assert [call.status.status_code.name for call in calls] == ["UNSET", "UNSET", "ERROR"]
    assert dict(calls[0].attributes or {})["stello.input_tokens"] == 10
    assert all(ancestors(query)[0] == "turn turn" for query in by_name["query turns/end"])
    assert ancestors(by_name["operation subscription"][0]) == ["socket /graphql"]
    assert ancestors(by_name["task CONSOLIDATE"][0]) == []
    told = "".join(span.to_json() for span in spans)
    assert SECRET not in told
    assert "request-of-the-turn" in told


def test_a_trace_of_the_caller_goes_on(tmp_path: Path) -> None:
    """By the standard header."""
    spans = spans_of(tmp_path)
    ours = [span for span in spans if (span.attributes or {}).get("stello.operation") == "Traced"]
    traces = {span.context.trace_id for span in ours if span.context}

    assert traces == {int(CALLER.split("-")[1], 16)}


def test_nothing_of_it_unless_asked_for() -> None:
    """Building the service imports no tracing."""
    program = """
import sys
from stello_graph.bootstrap import create_app
from stello_graph.settings import Settings
create_app(Settings(store="sqlite:///x.db"))
print([name for name in sys.modules if name.startswith(("stello_graph.tracing", "opentelemetry.sdk"))])
"""
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said what to install."""
    monkeypatch.setitem(sys.modules, "opentelemetry.sdk.trace", None)
    monkeypatch.delitem(sys.modules, "stello_graph.tracing")
    with pytest.raises(InvalidInput, match=r"stello-graph\[otel\]"):
        build(Settings(store="sqlite:///x.db", tracing=True))


@pytest.mark.parametrize("own", [True, False])
def test_whose_provider(own: bool) -> None:
    """An application's provider is kept; without one, spans go by OTLP under the service's name."""
    program = f"""
from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
own = TracerProvider()
if {own}:
    trace.set_tracer_provider(own)
from stello_graph.bootstrap import build
from stello_graph.settings import Settings
build(Settings(store="sqlite:///x.db", tracing=True))
print(trace.get_tracer_provider() is own, trace.get_tracer_provider().resource.attributes["service.name"])
"""
    environment = {**os.environ, "OTEL_SERVICE_NAME": "tests"}
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == [str(own), "tests"]
