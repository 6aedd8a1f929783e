"""Log lines: one object a line with the ids of what runs, and nothing of what was said."""

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from stello_graph.logs import LogFormat, configure
from stello_graph.ports.observing import Kind, Observers
from tests.unit.observing.scenario import SECRET, play, served

ACCESS = "stello_graph.access"
TASK = '"message":"task CONSOLIDATE"'


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """What is logged, once `configure` was called."""
    root, package = logging.getLogger(), logging.getLogger("stello_graph")
    before = root.handlers[:], root.level, package.level
    written = io.StringIO()
    yield written
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    package.setLevel(before[2])


def lines(log: io.StringIO) -> list[dict[str, Any]]:
    return [json.loads(line) for line in log.getvalue().splitlines()]


def test_a_scenario_is_told_without_its_contents(log: io.StringIO, tmp_path: Path) -> None:
    """Each line is an object; turns, also those that go on by themselves, have their request's id."""
    configure("json", "info", log)
    with served(tmp_path) as played:
        play(played)
        played.until(lambda: TASK in log.getvalue(), "the task has run")

    assert SECRET not in log.getvalue()
    told = lines(log)
    for line in told:
        assert {"time", "level", "logger", "message"} <= set(line), line
    turns = [line for line in told if line["message"] == "turn turn"]
    assert [line["outcome"] for line in turns] == ["COMPLETED", "FAILED"]
    assert turns[0]["request"] == "request-of-the-turn"
    assert (turns[0]["space"], turns[0]["session"], turns[0]["stop"]) == ("default", "s", "END_TURN")
    access, *_ = [line for line in told if line["logger"] == ACCESS and line.get("operation") == "Said"]
    assert access["message"] == "request /graphql"
    assert (access["request"], access["space"]) == ("request-of-the-turn", "default")
    assert access["type"] == "mutation"
    assert (access["status"], access["method"], access["outcome"]) == (200, "POST", "OK")
    assert access["duration"] >= turns[0]["duration"] > 0
    (tool,) = [line for line in told if line["message"].startswith("tool broken_tool failed")]
    assert (tool["turn"], tool["request"]) == (turns[0]["turn"], "request-of-the-turn")
    assert tool["exception"].endswith("builtins.ValueError")
    assert "in broken_tool" in tool["exception"]
    (socket,) = [line for line in told if line["message"] == "operation subscription"]
    assert (socket["operation"], socket["space"], socket["outcome"]) == ("Followed", "default", "OK")
    (lost,) = [line for line in told if line["message"] == "request other"]
    assert lost["status"] == 404


def test_a_long_name_of_an_operation_is_cut(log: io.StringIO, tmp_path: Path) -> None:
    """Callers choose it: a line has its first 100 characters."""
    configure("json", "info", log)
    with served(tmp_path) as played:
        played.ask(f"query {'N' * 50_000} {{ me {{ scope }} }}")

    (line,) = [line for line in lines(log) if line.get("operation")]
    assert line["operation"] == "N" * 100
    assert len(log.getvalue()) < 10_000


def test_each_request_has_a_line(log: io.StringIO, tmp_path: Path) -> None:
    """Health and metrics too."""
    configure("json", "INFO", log)
    with served(tmp_path) as played:
        for path in ("/healthz", "/readyz", "/metrics", "/graphql"):
            played.client.get(path)

    requests = [(line["message"], line["status"]) for line in lines(log) if line["logger"].endswith("access")]
    assert [path for path, _ in requests] == [
        "request /healthz", "request /readyz", "request /metrics", "request /graphql",
    ]  # fmt: skip
    assert requests[0][1] == requests[1][1] == 200


def test_as_text_without_contents(log: io.StringIO, tmp_path: Path) -> None:
    """Text has the same, as name=value."""
    configure("text", "info", log)
    with served(tmp_path) as played:
        play(played)
        played.until(lambda: "task CONSOLIDATE" in log.getvalue(), "the task has run")

    assert SECRET not in log.getvalue()
    assert "turn turn request=request-of-the-turn space=default turn=" in log.getvalue()
    assert "Traceback (most recent call last):" in log.getvalue()


@pytest.mark.parametrize("format", ["json", "text"])
def test_debug_tells_what_exceptions_say(log: io.StringIO, format: LogFormat) -> None:
    """Texts of exceptions, their causes too, are in the log at DEBUG alone."""
    for level in ("info", "debug"):
        configure(format, level, log)
        try:
            try:
                raise ValueError("the inner")
            except ValueError as error:
                raise KeyError("the outer") from error
        except KeyError:
            logging.getLogger("stello_graph.x").exception("it failed")
        shown = log.getvalue()
        assert ("ValueError" in shown, "KeyError" in shown) == (True, True)
        assert [text in shown for text in ("the inner", "the outer")] == [level == "debug"] * 2


@pytest.mark.parametrize("format", ["json", "text"])
def test_other_libraries_warn_only(log: io.StringIO, format: LogFormat) -> None:
    """Some log whole requests at DEBUG, and asyncio the error of a task in its message."""
    configure(format, "debug", log)
    logging.getLogger("anthropic").debug("Request options: %s", SECRET)
    logging.getLogger("httpx").info("POST %s", SECRET)
    configure(format, "info", log)
    logging.getLogger("asyncio").error("Task exception was never retrieved\nfuture: <Task %s>", SECRET)

    assert SECRET not in log.getvalue()
    assert "Task exception was never retrieved" in log.getvalue()


def test_a_line_is_one_line(log: io.StringIO) -> None:
    """What is logged cannot pass for another line."""
    configure("text", "info", log)
    logging.getLogger("stello_graph.x").warning("one\n2026 INFO stello_graph.y %s", "two\r\nthree")

    assert len(log.getvalue().splitlines()) == 1


def test_queries_and_model_calls_at_debug(log: io.StringIO) -> None:
    """They have their ids, names and numbers."""
    from stello_graph.logs import LogLines

    configure("json", "debug", log)
    observers = Observers([LogLines()])
    request = observers.begin(Kind.REQUEST, "/graphql", ids={"request": "r"})
    with observers.watch(Kind.QUERY, "sessions/get", facts={"access": "read"}):
        pass
    observers.end(request)
    query, _ = lines(log)

    assert (query["message"], query["access"], query["request"]) == ("query sessions/get", "read", "r")
