"""Metrics: what was done is counted, by nothing that a client can make up."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.testclient import TestClient

from stello_graph.bootstrap import create_app
from stello_graph.forest.keys import new_key
from stello_graph.http.metrics import Metrics
from stello_graph.llm.scripted import Pause, ScriptedLLM
from stello_graph.model.values import KeyScope
from stello_graph.ports.observing import Kind, Observers
from stello_graph.settings import Settings
from tests.unit.observing.scenario import KEY, SECRET, Played, play, served

DOCUMENTED = re.compile(r"^\| `(stello_\w+)` \| (counter|gauge|histogram) \|", re.MULTILINE)
OPERATING = Path(__file__).parents[3] / "docs" / "operating.md"


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Played]:
    """The scenario, at its end."""
    with served(tmp_path_factory.mktemp("metrics")) as played:
        play(played)
        played.until(lambda: value(played, "stello_tasks_total", kind="CONSOLIDATE"), "the task has run")
        yield played


def value(played: Played, name: str, **labels: str) -> float:
    """The sum of all samples that have these labels."""
    families = text_string_to_metric_families(played.metrics())
    return sum(
        sample.value
        for family in families
        for sample in family.samples
        if sample.name == name and labels.items() <= sample.labels.items()
    )


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("stello_operations_total", {"type": "subscription", "outcome": "OK"}, 1),
        ("stello_operations_total", {"type": "unknown", "outcome": "INVALID_INPUT"}, 1),
        ("stello_operations_total", {"type": "mutation", "outcome": "INVALID_INPUT"}, 2),
        ("stello_http_requests_total", {"route": "/graphql", "status": "401"}, 1),
        ("stello_http_requests_total", {"route": "other", "status": "404"}, 1),
        ("stello_turns_total", {"status": "COMPLETED"}, 1),
        ("stello_turns_total", {"status": "FAILED"}, 1),
        ("stello_turn_seconds_count", {}, 2),
        ("stello_model_calls_total", {"provider": "scripted", "outcome": "OK"}, 2),
        ("stello_model_calls_total", {"provider": "scripted", "outcome": "LLM_REFUSED"}, 1),
        ("stello_model_tokens_total", {"provider": "scripted", "kind": "input"}, 20),
        ("stello_model_tokens_total", {"provider": "scripted", "kind": "output"}, 10),
        ("stello_query_seconds_count", {"query": "turns/end"}, 2),
        ("stello_query_errors_total", {}, 0),
        ("stello_tasks_total", {"kind": "CONSOLIDATE", "outcome": "FAILED"}, 1),
        ("stello_turns_running", {}, 0),
        ("stello_sockets_open", {}, 0),
        ("stello_subscriptions_open", {}, 0),
        ("stello_model_calls_running", {}, 0),
        ("stello_http_requests_running", {}, 0),
        ("stello_store_connections", {"access": "read"}, 4),
        ("stello_store_connections", {"access": "write"}, 1),
    ],
    ids=str,
)
def test_the_scenario_is_counted(played: Played, name: str, labels: dict[str, str], expected: float) -> None:
    """Each kind of work, by its outcome."""
    assert value(played, name, **labels) == expected


def test_nothing_by_space_or_by_what_clients_say(played: Played) -> None:
    """No label has a Space, an id, a model or the name of an operation."""
    text = played.metrics()
    assert SECRET not in text
    labels = {
        label
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        for label in sample.labels
    }
    assert labels <= {
        "route", "status", "type", "outcome", "provider", "kind", "query", "access", "le", "version",
    }  # fmt: skip
    assert '"default"' not in text
    assert '"Said"' not in text


def test_the_table_of_metrics_is_right(played: Played) -> None:
    """docs/operating.md lists each metric with its type, and no other."""
    told = {
        (family.name + "_total" * (family.type == "counter"), family.type)
        for family in text_string_to_metric_families(played.metrics())
        if family.name.startswith("stello_")
    }
    assert set(DOCUMENTED.findall(OPERATING.read_text(encoding="utf-8"))) == told


def test_what_the_alerts_name_is_there(played: Played) -> None:
    """Each series in docs/operating.md is one that is told."""
    told = set(re.findall(r"^(?:# TYPE )?(stello_\w+)", played.metrics(), re.MULTILINE))
    named = set(re.findall(r"\bstello_[a-z_]+", OPERATING.read_text(encoding="utf-8")))

    assert named - told == {"stello_graph"}


def test_who_may_read_them(played: Played, tmp_path: Path) -> None:
    """Where keys are in use, an OPERATOR; without keys, this machine."""
    store = played.client.app.state.graph.store  # type: ignore[attr-defined]
    made = played.client.portal.call(new_key, store, None, "ops", KeyScope.OPERATOR)  # type: ignore[union-attr]

    def status(key: str | None) -> int:
        headers = {"Authorization": "" if key is None else f"Bearer {key}"}
        return played.client.get("/metrics", headers=headers).status_code

    assert [status(key) for key in (made.secret, KEY, "wrong", None)] == [200, 403, 401, 401]
    told = played.client.get("/metrics", headers={"Authorization": f"Bearer {made.secret}"})
    assert told.headers["content-type"].startswith("text/plain; version=")
    assert "stello_turns_total" in told.text

    app = create_app(Settings(store=f"sqlite:///{tmp_path / 'keyless.db'}"))
    with TestClient(app, "http://localhost", client=("127.0.0.1", 50_000)) as client:
        assert client.get("/metrics").status_code == 200
        assert client.get("/metrics", headers={"X-Forwarded-For": "192.0.2.1"}).status_code == 403


def test_what_runs_is_counted(tmp_path: Path) -> None:
    """A turn that waits for its model is seen as long as it does."""
    pause = Pause()
    with served(tmp_path, llm=ScriptedLLM([["so far", pause]])) as played:
        played.ask('mutation { createSession(input: {id: "s"}) { id } }')
        played.ask('mutation { startTurn(input: {sessionId: "s", content: "x"}) { id } }')
        played.until(pause.reached.is_set, "the model was asked")
        assert value(played, "stello_turns_running") == 1
        assert value(played, "stello_model_calls_running", provider="scripted") == 0
        assert value(played, "stello_model_calls_running") == 1
        played.client.portal.call(pause.over.set)  # type: ignore[union-attr]
        played.until(lambda: value(played, "stello_turns_total", status="COMPLETED"), "the turn has ended")
        assert value(played, "stello_turns_running") == value(played, "stello_model_calls_running") == 0


def test_apps_count_by_themselves() -> None:
    """Two in one process do not see each other's."""
    one, other = Metrics({}), Metrics({})
    with Observers([one]).watch(Kind.TURN, "turn") as work:
        work.outcome = "COMPLETED"

    assert b'stello_turns_total{status="COMPLETED"} 1.0' in one.text()
    assert b"COMPLETED" not in other.text()
