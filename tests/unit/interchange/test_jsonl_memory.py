"""The own format, out and in: what is held at a time is bounded in bytes, whatever one thing weighs."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from stello_graph.interchange.jsonl import beside, lots, pace
from stello_graph.interchange.jsonl.pace import Pace, weight
from stello_graph.ports import SpaceStore
from tests.unit.interchange.own_lines import (
    HEADER,
    Line,
    dumped,
    exported,
    imported,
    message,
    remarks,
    session,
    shared,
)

MOST = 20_000


@pytest.fixture(autouse=True)
def little(monkeypatch: pytest.MonkeyPatch) -> None:
    """Much less than usual."""
    for module in (beside, lots, pace):
        monkeypatch.setattr(module, "MOST_BYTES", MOST)


def weighed(space: SpaceStore, name: str, weigh: Callable[[Any], int] = weight) -> list[int]:
    """What a method of the store is given, or answers, from now on."""
    real, weights = getattr(space, name), []

    async def method(*args: Any, **given: Any) -> Any:
        answer = await real(*args, **given)
        weights.append(max(weigh([*args, *given.values()]), weigh(answer)))
        return answer

    setattr(space, name, method)
    return weights


def forest(count: int, text: str) -> list[Line]:
    """Sessions with many messages and with few, a fork of each that shares them, and records."""
    lines: list[Line] = []
    for n in range(count):
        id, fork = f"s{n:02}", f"f{n:02}"
        seqs = range(1, 60 if n == 0 else 8)
        lines += [session(id), *(message(id, seq, content=text) for seq in seqs)]
        lines += [session(fork, parentId=id), *(shared(fork, seq, f"{id}-{seq}", id) for seq in seqs)]
    return [*lines, *({"kind": "record", "key": f"k{n}", "value": text} for n in range(100))]


async def test_what_is_held_at_a_time(space: SpaceStore) -> None:
    """Pages and lots of heavy things are small; alone is what is heavier by itself."""
    file = dumped(HEADER, *forest(20, 1_000 * "x"))
    drafts, told = weighed(space, "restore_sessions"), weighed(space, "restore_beside")
    homes = weighed(space, "written_messages")

    report = await imported(space, file)

    longest = 60 * 1_200
    assert (remarks(report), report.messages) == ({}, 59 + 19 * 7)
    assert max(told) < 1.2 * MOST
    assert max(drafts) < longest
    assert sorted(drafts)[-2] < 1.2 * MOST
    assert max(homes) < MOST

    records, messages = weighed(space, "records"), weighed(space, "message_copies")
    out = await exported(space)
    assert sum(b'"content"' in line for line in out.splitlines()) == 59 + 19 * 7
    assert max(records) < 1.2 * MOST
    # Twenty of each session of the first page, before anything is known.
    assert max(messages) < 1.2 * 2 * 20 * 1_000
    assert len(messages) < 80
    ids = [json.loads(line)["key"] for line in out.splitlines() if b'"record"' in line]
    assert ids == sorted(f"k{n}" for n in range(100))


async def test_light_things_go_by_large_pages(space: SpaceStore) -> None:
    """What weighs little is read as much at a time as pages hold, after some smaller ones."""
    await imported(space, dumped(HEADER, *forest(60, "x")))
    sessions, records = weighed(space, "session_copies"), weighed(space, "records")
    await exported(space)
    assert len(sessions) < 20
    assert len(records) <= 6

    page = Pace(2, 50)
    for size in (2, 8, 32, 50, 50):
        assert page.size == size
        page.weighed(["x"] * size)
    page.weighed(["x" * MOST] * 50)
    assert page.size == 1
