"""Stores of the predecessor: what becomes of each file, and of what is broken in it."""

import json
from codecs import BOM_UTF8
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from stello_graph.interchange.conversations import CHARACTERS, FAULT, NO_RESULT
from stello_graph.interchange.plan import Skipped
from stello_graph.interchange.predecessor import is_store
from stello_graph.interchange.predecessor.forest import (
    CIRCLE,
    CUT,
    MANY,
    NO_CONFIG,
    NO_META,
    NO_PARENT,
    NO_REF,
    WITHOUT_META,
    Forest,
    StoredSession,
)
from stello_graph.interchange.predecessor.growth import growth
from stello_graph.interchange.predecessor.store import NO_FILE, NO_RECORD, NO_TEXT, OUTSIDE, FileStore
from stello_graph.interchange.predecessor.transcript import NO_CALL, NO_ROLE, SYSTEM, Transcript
from stello_graph.interchange.reading import LARGE
from stello_graph.interchange.text import Cleaner
from stello_graph.model.checks import MAX_JSON_DEPTH
from stello_graph.model.message import MessageRole, MessageState
from stello_graph.model.values import SessionRole, SessionStatus
from stello_graph.model.writes import StoredTranscript
from tests.unit.interchange.exports import assert_whole_groups
from tests.unit.interchange.stores import call, engine_store, lines, meta, mirrored_store, record, write


def sessions_of(forest: Forest) -> dict[str, StoredSession]:
    found = [each for each in forest.sessions() if isinstance(each, StoredSession)]
    assert len(found) == len(forest), "none was given up"
    return {each.draft.id: each for each in found}


def read(folder: Path, **limits: int) -> dict[str, StoredSession]:
    return sessions_of(Forest(FileStore(folder), **limits))


def why(session: StoredSession) -> list[tuple[str, str]]:
    return [(each.where.rpartition(", ")[2], each.why) for each in (*session.skipped, *session.repaired)]


def test_a_store_of_the_memory_engine(tmp_path: Path) -> None:
    """Each file has its place; what is broken costs nothing else."""
    assert not is_store(write(tmp_path / "core", {"core.json": {}}))
    assert is_store(write(tmp_path / "core", {"sessions/s/notes.txt": ""}))
    assert not is_store(tmp_path)
    folder = engine_store(tmp_path)
    assert is_store(folder)
    forest = Forest(FileStore(folder))
    found = sessions_of(forest)

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
    found = sessions_of(forest)

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


def test_damaged_text_is_mended(tmp_path: Path) -> None:
    """A character cut in two, a byte order mark, a byte that is no UTF-8, NaN: nothing is lost but that."""
    label = json.dumps(meta("s", label="Half \ud83d", refs=["s\udc00"])).encode()
    record_ = json.dumps(record("user", "Smile \ud83d")).encode()
    folder = write(
        tmp_path,
        {
            "core.json": BOM_UTF8 + b'{"n": {"k": NaN}, "\\udc00": 1}',
            "sessions/s/meta.json": BOM_UTF8 + label,
            "sessions/s/config.json": BOM_UTF8 + b'{"systemPrompt": "a\xffb"}',
            "sessions/s/memory.md": BOM_UTF8 + b"It was \xe9.",
            "sessions/s/records.jsonl": BOM_UTF8 + record_ + b"\r\n" + BOM_UTF8 + b"\r\n" + record_[:-1],
        },
    )
    session = read(folder)["s"]
    draft = session.draft
    assert (draft.label, draft.system_prompt, draft.memory) == ("Half", "a\ufffdb", "It was \ufffd.")
    assert [each.content for each in draft.messages] == ["Smile \ufffd"]
    assert why(session) == [
        ("line 2", NO_RECORD),
        ("line 3", NO_RECORD),
        ("session s", NO_REF),
        ("session s", CHARACTERS),
    ]


def test_each_file_lies_where_it_lies(tmp_path: Path) -> None:
    """Both forms in one store; sessions without meta.json, links out of it and what is no file are told;
    an orphan leaves the root its role.
    """
    outside = write(tmp_path / "outside", {"memory.md": "secret"})
    folder = write(
        tmp_path / "store",
        {
            "memory/core.json": {},
            "core.json": {"k": 1},
            "sessions/r/meta.json": meta("r", scope=None),
            "sessions/o/meta.json": meta("o", "gone", at=1, scope=None),
            "memory/sessions/r/memory.json": "Mirrored.",
            "sessions/r/memory.md": "Not this.",
            "memory/sessions/r/records.json": [],
            "sessions/r/records.jsonl": lines(record("user", "Hi")),
            "sessions/o/memory.md": "Own.",
            "sessions/o/scope.md": "about",
            "memory/sessions/o/scope.json": "An insight.",
            "memory/sessions/o/system-prompt.json": 7,
            "sessions/o/config.json": [],
            "sessions/lost/records.jsonl": lines(record("user", "lost")),
            "memory/sessions/gone/memory.json": "lost",
            "sessions/empty/records.jsonl": "",
            "sessions/about/scope.md": "lost",
            "sessions/set/config.json": {"systemPrompt": "lost"},
            "memory/sessions/told/scope.json": "lost",
            "memory/sessions/asked/system-prompt.json": "lost",
        },
    )
    (folder / "sessions/o/index.md").symlink_to(outside / "memory.md")
    (folder / "sessions/o/records.jsonl").mkdir()
    forest = Forest(FileStore(folder))
    found = sessions_of(forest)
    r, o = found["r"].draft, found["o"].draft

    assert FileStore(folder).core() == {"k": 1}
    assert [(each.where, each.why) for each in forest.skipped] == [
        *((f"session {id}", WITHOUT_META) for id in ("about", "asked", "gone", "lost", "set", "told")),
    ]
    assert (r.role, r.synthesis, [each.content for each in r.messages]) == (
        SessionRole.MAIN,
        "Mirrored.",
        ["Hi"],
    )
    assert (o.role, o.memory, o.insight, o.metadata) == (
        SessionRole.STANDARD,
        "Own.",
        "An insight.",
        {"stello": {"scope": "about"}},
    )
    assert [each.why for each in found["o"].skipped] == [
        f"records.jsonl: {NO_FILE}",
        NO_CONFIG,
        f"system-prompt.json: {NO_TEXT}",
        f"index.md: {OUTSIDE}",
    ]


def test_a_fault_of_the_reader_costs_one_session(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is told, and the others are read."""

    class Failing(Transcript):
        def __init__(self, session_id: str, records: Sequence[Any], cleaner: Cleaner) -> None:
            if session_id == "a":
                raise RecursionError
            super().__init__(session_id, records, cleaner)

    monkeypatch.setattr("stello_graph.interchange.predecessor.forest.Transcript", Failing)
    found = list(Forest(FileStore(engine_store(tmp_path))).sessions())
    assert [each.draft.id for each in found if isinstance(each, StoredSession)] == ["main", "b", "orphan"]
    assert [each for each in found if isinstance(each, Skipped)] == [Skipped(where="session a", why=FAULT)]


def test_no_session_has_more_than_it_may(tmp_path: Path) -> None:
    """Texts are cut between characters, names after the hundredth; metadata are kept whole or not."""
    many = [f"n{n}" for n in range(101)]
    folder = write(
        tmp_path,
        {
            "sessions/s/meta.json": meta("s", tags=many, scope="x" * 100),
            "sessions/s/config.json": {"systemPrompt": "é" * 51, "skills": many},
            "sessions/s/memory.md": "m" * 100,
        },
    )
    session = read(folder, max_text=101)["s"]
    draft = session.draft
    assert (draft.system_prompt, draft.synthesis, draft.metadata) == ("é" * 50, "m" * 100, None)
    assert draft.tags == draft.skills == tuple(many[:100])
    assert sorted(each.why for each in session.repaired) == sorted([CUT, MANY, MANY, LARGE])


IDS = st.sampled_from(["k", "l", None])
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5) | st.sampled_from(["k", "user", "tool"]),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["id", "name", "input"]), inner)
    ),
)
RECORD = st.fixed_dictionaries(
    {
        "role": st.sampled_from(["user", "assistant", "tool", "system"]) | JSON,
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


ANY = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(st.characters(codec=None), max_size=5)
    | st.sampled_from(["main", "a", "2026-04-01", "9" * 400, "\ud83d", 10**400]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
)
FIELDS = ["parentId", "children", "refs", "label", "index", "status", "createdAt", "updatedAt", "scope"]
FIELDS += ["lastActiveAt", "sourceSessionId", "metadata", "tags", "systemPrompt", "skills", ""]


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.sampled_from(["meta.json", "config.json"]), st.dictionaries(st.sampled_from(FIELDS), ANY), ANY)
def test_any_value_anywhere_costs_no_session(name: str, fields: dict[str, Any], any: Any) -> None:
    """A store in whose files anything stands is read to its end, and without a fault."""
    with TemporaryDirectory() as folder:
        store = engine_store(Path(folder))
        known = meta("a", "main") if name == "meta.json" else {"systemPrompt": "x", "skills": []}
        write(store, {f"sessions/a/{name}": known | fields, "core.json": any, "sessions/b/config.json": any})
        write(store, {"sessions/main/records.jsonl": lines(json.dumps(any), record("user", "x", 0, any=any))})
        assert sessions_of(Forest(FileStore(store))).keys() >= {"main", "a", "b"}
        FileStore(store).core()


def test_a_transcript_of_odd_records() -> None:
    """Nested beyond all measure, a role that is a list; tens of thousands of calls and results."""
    deep: Any = []
    for _ in range(800):
        deep = [deep]
    odd = [record("assistant", "x", toolCalls=deep), record("user", "y") | {"timestamp": deep}]
    read = Transcript("s", [*odd, {"role": [], "content": ""}, record("user", "z")], Cleaner())
    assert [each.content for each in read.messages] == ["z"]
    assert [each.why for each in read.skipped] == ["nested too deeply", "nested too deeply", NO_ROLE]

    asked = [record("assistant", str(n), toolCalls=[call(n), call("open")]) for n in range(20_000)]
    answers = [record("tool", str(n), toolCallId=n) for n in range(20_000)]
    answers += [record("tool", "lost", toolCallId="none")] * 20_000
    read = Transcript("s", [*asked, *answers], Cleaner())
    results = [each.content for each in read.messages if each.role is MessageRole.TOOL]
    assert results[0::2] == [str(n) for n in range(20_000)]
    assert set(results[1::2]) == {NO_RESULT}
    assert {each.why for each in read.skipped} == {NO_CALL}


@pytest.mark.parametrize("kept", [1, 3])
def test_ids_stay_when_others_are_trimmed(kept: int) -> None:
    records = [record("user" if n % 2 else "assistant", f"said {n}", n) for n in range(6)]
    whole = [each.id for each in Transcript("s", records, Cleaner()).messages]
    assert [each.id for each in Transcript("s", records[-kept:], Cleaner()).messages] == whole[-kept:]
    assert Transcript("other", records, Cleaner()).messages[0].id not in whole


@settings(max_examples=200, deadline=None)
@given(st.text("ab", min_size=1, max_size=9), st.booleans(), st.data())
def test_what_comes_after_is_found(told: str, is_timed: bool, data: st.DataObject) -> None:
    """Wherever either side was trimmed: exactly that, where records have times. Without times none comes
    twice, and each has an id of its own.
    """
    roles = {"a": "user", "b": "assistant"}
    records = [{"role": roles[each], "content": each} for each in told]
    if is_timed:
        records = [record(each["role"], each["content"], at) for at, each in enumerate(records)]
    imported = data.draw(st.integers(1, len(records)))
    trimmed_there = data.draw(st.integers(0, imported - 1))
    trimmed_here = data.draw(st.integers(0, imported - 1))
    ids = [each.id for each in Transcript("s", records[:imported], Cleaner()).messages[trimmed_here:]]
    there = Transcript("s", records[trimmed_there:], Cleaner()).messages

    stored = StoredTranscript(id="s", next_seq=imported + 1, message_ids=tuple(ids))
    found = growth(stored, there)
    ids += [each.id for each in found.messages]
    assert len(set(ids)) == len(ids)
    if is_timed:
        assert "".join(each.content for each in found.messages) == told[imported:]
        assert found.why_not is None
    again = growth(StoredTranscript(id="s", next_seq=99, message_ids=tuple(ids)), there)
    assert again.messages == ()


@pytest.mark.parametrize("levels", [MAX_JSON_DEPTH - 1, MAX_JSON_DEPTH])
def test_arguments_as_deep_as_a_caller_may_give(levels: int) -> None:
    deep: Any = "x"
    for _ in range(levels):
        deep = {"a": deep}
    asked = record("assistant", "", toolCalls=[{"id": "k", "name": "f", "input": deep}])
    read = Transcript("s", [asked], Cleaner())

    found = [call.arguments for each in read.messages for call in each.tool_calls]
    assert found == [deep] * (levels < MAX_JSON_DEPTH)
    assert len(read.skipped) == (levels == MAX_JSON_DEPTH)


def test_calls_that_are_made_again_have_ids_of_their_own() -> None:
    """Of a message that says the same as one here, as its results have them."""
    asked = {"role": "assistant", "content": "", "toolCalls": [call("k"), call("l")]}
    result = {"role": "tool", "content": "found", "toolCallId": "k"}
    row = [asked, result, {"role": "user", "content": "Again"}]
    there = Transcript("s", row * 2, Cleaner()).messages
    here = there[len(there) // 2 :]
    stored = StoredTranscript(id="s", next_seq=9, message_ids=tuple(each.id for each in here))

    whole = [*here, *growth(stored, there).messages]

    calls = [one.id for each in whole for one in each.tool_calls]
    assert len(set(calls)) == len(calls) == 4
    assert [each.tool_call_id for each in whole if each.role is MessageRole.TOOL] == calls
