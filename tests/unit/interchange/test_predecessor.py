"""Stores of the predecessor: what becomes of each file, and of what is broken in it."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stello_graph.interchange.conversations import NO_RESULT
from stello_graph.interchange.predecessor import is_store
from stello_graph.interchange.predecessor.forest import (
    CIRCLE,
    NO_META,
    NO_PARENT,
    NO_REF,
    Forest,
    StoredSession,
)
from stello_graph.interchange.predecessor.store import NO_RECORD, FileStore
from stello_graph.interchange.predecessor.transcript import NO_CALL, SYSTEM, Transcript
from stello_graph.interchange.text import Cleaner
from stello_graph.model.message import MessageRole, MessageState
from stello_graph.model.values import SessionRole, SessionStatus
from tests.unit.interchange.exports import assert_whole_groups
from tests.unit.interchange.stores import engine_store, lines, meta, mirrored_store, record, write


def read(folder: Path) -> dict[str, StoredSession]:
    return {each.draft.id: each for each in Forest(FileStore(folder)).sessions()}


def why(session: StoredSession) -> list[tuple[str, str]]:
    return [(each.where.rpartition(", ")[2], each.why) for each in (*session.skipped, *session.repaired)]


def test_a_store_of_the_memory_engine(tmp_path: Path) -> None:
    """Each file has its place; what is broken costs nothing else."""
    assert not is_store(tmp_path)
    folder = engine_store(tmp_path)
    assert is_store(folder)
    forest = Forest(FileStore(folder))
    found = {each.draft.id: each for each in forest.sessions()}

    assert [each.where for each in forest.skipped] == ["session torn"]
    assert list(found) == ["main", "b", "a", "orphan"]
    main, a, b, orphan = (found[id].draft for id in ("main", "a", "b", "orphan"))
    assert (main.role, main.synthesis, main.memory, main.turn_count) == (
        SessionRole.MAIN,
        "All in all: Kyoto.",
        None,
        1,
    )
    assert (a.role, a.parent_id, a.source_id, a.memory) == (
        SessionRole.STANDARD,
        "main",
        "main",
        "Trains are cheap.",
    )
    assert (a.system_prompt, a.skills, a.metadata) == (
        "You know trains.",
        ("maps",),
        {"stello": {"scope": "trains"}},
    )
    assert (b.status, b.source_id, b.metadata, found["b"].refs) == (
        SessionStatus.ARCHIVED,
        "a",
        {"stello": {"metadata": {"k": 1}}},
        ("a",),
    )
    assert (orphan.parent_id, orphan.label) == (None, "Label orphan")
    assert main.created_at == 1775037660000000
    assert (main.updated_at or 0) > (main.last_active_at or 0) == main.created_at
    assert why(found["orphan"]) == [("session orphan", NO_PARENT)]
    assert why(found["a"]) == [
        ("line 5", NO_RECORD),
        ("record 6", NO_CALL),
        ("record 7", SYSTEM),
        ("session a", NO_REF),
    ]


def test_tool_calls_find_their_results(tmp_path: Path) -> None:
    """By id, in whatever order; a call without a result has a CANCELLED one. Each message has its time."""
    found = read(engine_store(tmp_path))
    messages = found["a"].draft.messages
    assert [(each.role, each.content) for each in messages] == [
        (MessageRole.USER, "Which train?"),
        (MessageRole.ASSISTANT, ""),
        (MessageRole.TOOL, "the train"),
        (MessageRole.TOOL, "the bus"),
        (MessageRole.ASSISTANT, "That one."),
    ]
    assert [each.arguments for each in messages[1].tool_calls] == [{"q": "train"}, {"q": "bus"}]
    first = messages[0].created_at or 0
    assert [((each.created_at or 0) - first) // 1_000_000 for each in messages] == [0, 1, 3, 2, 4]
    asked, answered = found["b"].draft.messages
    assert (asked.tool_calls[0].name, answered.content, answered.state) == (
        "search",
        NO_RESULT,
        MessageState.CANCELLED,
    )


def test_a_store_of_the_chat_example(tmp_path: Path) -> None:
    """Its scope is the pending insight; the only root of the oldest generation is MAIN."""
    found = read(mirrored_store(tmp_path))
    root, child = found["r"].draft, found["c"].draft
    assert (root.role, root.synthesis, root.tags) == (SessionRole.MAIN, "The synthesis.", ("t",))
    assert (child.memory, child.insight, child.system_prompt) == (
        "A digest.",
        "Ask for the visa.",
        "You know France.",
    )
    assert child.metadata == {"stello": {"scope": "France"}}
    assert [each.content for each in child.messages] == ["Where?", "Lyon.", "found"]


def test_shapes_that_are_none(tmp_path: Path) -> None:
    """Circles, a parent that is itself, children in a wrong order, ids and things of a wrong kind."""
    folder = write(
        tmp_path,
        {
            "sessions/a/meta.json": meta("a", "c", at=1),
            "sessions/b/meta.json": meta("b", "a", at=2),
            "sessions/c/meta.json": meta("c", "b", at=3),
            "sessions/self/meta.json": meta("self", "self", at=4, children="x", refs={}),
            "sessions/日本/meta.json": meta("日本", "a", at=5, label=7, tags=[1, "x\ny"], metadata=3),
            "sessions/list/meta.json": [],
            "sessions/日本/records.jsonl": lines(
                "[]", "7", record("user", 7), record("robot", "x"), record("user", "")
            ),
        },
    )
    forest = Forest(FileStore(folder))
    found = {each.draft.id: each for each in forest.sessions()}

    assert [(each.where, each.why) for each in forest.skipped] == [("session list", NO_META)]
    parents = {id: each.draft.parent_id for id, each in found.items()}
    odd = next(id for id in parents if id.startswith("stello:"))
    assert parents == {"a": None, "b": "a", "c": "b", odd: "a", "self": None}
    assert why(found["a"]) == [("session a", CIRCLE)]
    assert why(found["self"]) == [("session self", CIRCLE)]
    assert (found[odd].draft.label, found[odd].draft.tags, found[odd].draft.messages) == (
        "Session",
        ("x y",),
        (),
    )
    assert [each.where.rpartition(" ")[2] for each in found[odd].skipped] == ["1", "2", "3", "4"]
    assert found[odd].hidden == 1


IDS = st.sampled_from(["k", "l", None])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["k", "user", "tool"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "name", "input"]), inner)
    ),
)
RECORD = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "tool", "system"]),
        "content": st.text(max_size=5) | JSON,
    },
    optional={
        "toolCalls": JSON | st.lists(st.fixed_dictionaries({"id": IDS}), max_size=3),
        "toolCallId": IDS | JSON,
        "timestamp": JSON,
        "metadata": JSON,
    },
)
RECORDS = st.lists(JSON | RECORD, max_size=12)


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(RECORDS)
def test_any_records_make_a_legal_transcript(records: list[Any]) -> None:
    """Each is a message, a result at its call, hidden, or skipped with a reason."""
    read = Transcript("s", records, Cleaner())
    assert_whole_groups(read.messages)
    assert len({each.id for each in read.messages}) == len(read.messages)
    results = sum(
        each.role is MessageRole.TOOL and each.state is MessageState.COMPLETE for each in read.messages
    )
    said = sum(each.role is not MessageRole.TOOL for each in read.messages)
    assert said + results + len(read.skipped) + read.hidden >= len(records)


@pytest.mark.parametrize("kept", [1, 3])
def test_ids_stay_when_others_are_trimmed(kept: int) -> None:
    records = [record("user" if n % 2 else "assistant", f"said {n}", n) for n in range(6)]
    whole = [each.id for each in Transcript("s", records, Cleaner()).messages]
    assert [each.id for each in Transcript("s", records[-kept:], Cleaner()).messages] == whole[-kept:]
    assert Transcript("other", records, Cleaner()).messages[0].id not in whole
