"""A store of the predecessor comes in whole, and once."""

from pathlib import Path
from typing import Any

import pytest

from stello_graph.interchange.conversations import NO_RESULT
from stello_graph.interchange.predecessor import import_store
from stello_graph.interchange.predecessor.core import BAD_KEY, LARGE, NULL, OTHER
from stello_graph.interchange.predecessor.forest import NO_PARENT
from stello_graph.interchange.predecessor.growth import APART, GONE, WENT_ON
from stello_graph.interchange.predecessor.importer import (
    BELOW_OTHER,
    NO_LINK,
    NO_TARGET,
    OTHER_STORE,
    WAS_OPEN,
)
from stello_graph.interchange.report import BesideOutcome
from stello_graph.interchange.writing import ARCHIVED
from stello_graph.model.values import SessionRole, SessionStatus
from stello_graph.model.writes import ImportDraft
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import said, transcript
from tests.unit.interchange.stores import call, engine_store, lines, meta, mirrored_store, record, write


async def test_a_store(space: SpaceStore, database: Database, tmp_path: Path) -> None:
    """Its forest with times, refs also of what is archived, digests, synthesis, prompts and core data."""
    folder = engine_store(tmp_path)
    told: list[tuple[int, int]] = []
    report = (await import_store(space, folder, lambda done, all: told.append((done, all)))).to_dict()

    assert told == [(1, 4), (2, 4), (3, 4), (4, 4)]
    assert (report["sessions"]["imported"], report["forks"], report["messages"]) == (4, 2, 9)
    assert (report["repaired"]["reasons"][NO_PARENT], report["skipped"]["reasons"][BAD_KEY]) == (1, 1)
    assert report["skipped"]["reasons"][NULL] == 1
    sessions = await space.sessions(["main", "a", "b", "orphan"])
    nodes = await space.nodes(["main", "a", "b", "orphan"])
    assert {id: (node.parent_id, node.index) for id, node in nodes.items()} == {
        "main": (None, 0),
        "b": ("main", 0),
        "a": ("main", 1),
        "orphan": (None, 1),
    }
    assert (nodes["b"].source_session_id, nodes["a"].source_session_id) == ("a", "main")
    assert (sessions["main"].role, sessions["main"].synthesis) == (SessionRole.MAIN, "All in all: Kyoto.")
    assert (sessions["a"].memory, sessions["a"].system_prompt) == ("Trains are cheap.", "You know trains.")
    assert sessions["a"].updated_at > sessions["a"].created_at == sessions["a"].last_active_at
    assert sessions["b"].status is SessionStatus.ARCHIVED
    assert sessions["b"].updated_at == sessions["a"].updated_at, "archiving it was no work of today"
    refs = await space.refs(["a", "b"], first=9, offset=0)
    assert {id: [node.id for node in found] for id, found in refs.items()} == {"a": ["b"], "b": ["a"]}
    assert [one.content for one in await transcript(space, "a")][2:4] == ["the train", "the bus"]
    records = await space.records("", after="", first=9)
    assert {one.key: one.value for one in records} == {"profile.name": "Mei", "goals": ["Kyoto"]}

    before = database.snapshot(space.space_id)
    again = await import_store(space, folder)
    assert database.snapshot(space.space_id) == before
    assert again.to_dict()["sessions"] == {"imported": 0, "extended": 0, "present": 4}
    assert again.beside == {BesideOutcome.PRESENT: 2}
    assert "Nothing was added: all of it is there already." in list(again.lines())


async def test_what_is_there_stays(space: SpaceStore, tmp_path: Path) -> None:
    """A transcript that grew goes on here, unless it went on otherwise; what is archived and records stay."""
    folder = mirrored_store(tmp_path)
    await import_store(space, folder)
    session = (await space.sessions(["c"]))["c"]
    assert (session.insight and session.insight.content, session.memory) == ("Ask for the visa.", "A digest.")

    grown = [record("user", "Where?"), record("assistant", "Nice.", 9)]
    for name in ("x", "y", "z"):
        write(
            tmp_path,
            {
                f"sessions/{name}/meta.json": meta(name, "r"),
                f"memory/sessions/{name}/records.json": grown[:1],
            },
        )
    await import_store(space, folder)
    await space.append("y", [said("We talked here.")])
    await space.set_status("z", SessionStatus.ARCHIVED)
    await space.put_record("topics", ["ours"], None)
    for name in ("x", "y", "z"):
        write(tmp_path, {f"memory/sessions/{name}/records.json": grown})

    report = (await import_store(space, folder)).to_dict()
    assert report["sessions"] == {"imported": 0, "extended": 1, "present": 3}
    assert report["skipped"]["reasons"] == {WENT_ON: 1, ARCHIVED: 1, OTHER: 1}
    assert [one.content for one in await transcript(space, "x")] == ["Where?", "Nice."]
    assert (await space.sessions(["x"]))["x"].turn_count == 1, "a question asked before has its reply"
    assert [one.content for one in await transcript(space, "y")] == ["Where?", "We talked here."]
    found = await space.record("topics")
    assert found is not None
    assert found.value == ["ours"]


async def test_a_transcript_goes_on(space: SpaceStore, tmp_path: Path) -> None:
    """Behind an open call that has its result by now, though equal records have no times, and where the file
    has only what is later; not where all was trimmed away here, or where something else was said, which is
    told only if there is more, or where nobody knows what is later.
    """
    asked = [record("user", "Look"), record("assistant", "", 1, toolCalls=[call("k")])]
    untimed = [{"role": role, "content": text} for role, text in (("user", "Go on"), ("assistant", "And"))]
    told = [record("user", "Hi"), record("assistant", "Hello", 1)]
    first = {"open": asked, "untimed": [*untimed, untimed[0]], "trimmed": told, "ours": told}
    first |= {"cut": told, "torn": told}
    files = {f"sessions/{id}/meta.json": meta(id) for id in first}
    folder = write(tmp_path, files)

    async def imported(transcripts: dict[str, list[Any]]) -> dict[str, Any]:
        write(tmp_path, {f"sessions/{id}/records.jsonl": lines(*each) for id, each in transcripts.items()})
        return (await import_store(space, folder)).to_dict()

    assert (await imported(first))["sessions"]["imported"] == 6
    await space.trim("trimmed", 0)
    await space.append("ours", [said("We talked here.")])
    again = await imported(first)
    assert (again["sessions"]["present"], again["skipped"]["reasons"], again["repaired"]["count"]) == (
        6,
        {GONE: 1},
        0,
    )

    done = [*asked, record("tool", "found", 2, toolCallId="k"), record("assistant", "Done.", 3)]
    trimmed = [untimed[0], {"role": "assistant", "content": "On"}, untimed[0]]
    later = [record("user", "Later", 2), record("assistant", "Yes", 3)]
    torn = [record("assistant", "Hey", 1), *later]
    grown = {"open": done, "untimed": trimmed, "ours": [*told, later[0]], "cut": later, "torn": torn}
    report = await imported(grown)
    assert report["sessions"] == {"imported": 0, "extended": 3, "present": 3}
    assert (report["messages"], report["repaired"]["reasons"]) == (5, {WAS_OPEN: 1})
    assert report["skipped"]["reasons"] == {GONE: 1, WENT_ON: 1, APART: 1}
    report = await imported({"open": [*done, record("user", "Thanks", 4)]})
    assert (report["sessions"]["extended"], report["messages"]) == (1, 1)
    contents = {id: [one.content for one in await transcript(space, id)] for id in first}
    assert contents == {
        "open": ["Look", "", NO_RESULT, "Done.", "Thanks"],
        "untimed": ["Go on", "And", "Go on", "On", "Go on"],
        "trimmed": [],
        "ours": ["Hi", "Hello", "We talked here."],
        "cut": ["Hi", "Hello", "Later", "Yes"],
        "torn": ["Hi", "Hello"],
    }


async def test_another_store(space: SpaceStore, database: Database, tmp_path: Path) -> None:
    """Whose main session has the same id leaves this one's, and all below it, as they are."""
    await import_store(space, engine_store(tmp_path / "one"))
    before = database.snapshot(space.space_id)
    files = {
        "sessions/main/meta.json": meta("main", at=50),
        "sessions/main/records.jsonl": lines(record("user", "Other")),
        "sessions/x/meta.json": meta("x", "main", at=51),
        "sessions/y/meta.json": meta("y", "x", at=52),
    }
    report = (await import_store(space, write(tmp_path / "two", files))).to_dict()
    assert report["skipped"]["reasons"] == {OTHER_STORE: 1, BELOW_OTHER: 2}
    assert report["sessions"] == {"imported": 0, "extended": 0, "present": 0}
    assert database.snapshot(space.space_id) == before


async def test_refs(space: SpaceStore, tmp_path: Path) -> None:
    """They come with the later of their ends, also after an import that was broken off and from what is
    archived; one that was removed here does not come back. Those that cannot be are told.
    """
    files = {
        "sessions/a/meta.json": meta("a", at=1, status="archived", refs=["b", "c"]),
        "sessions/b/meta.json": meta("b", at=2, refs=["a", "b", "low"]),
        "sessions/low/meta.json": meta("low", "b", at=3, refs=["a"]),
        "sessions/c/meta.json": meta("c", at=4, refs=["b"]),
    }
    folder = write(tmp_path, files)

    def broken_off(done: int, all: int) -> None:
        if done == 2:
            raise InterruptedError

    async def refs() -> dict[str, list[str]]:
        found = await space.refs(["a", "b", "low", "c", "d"], first=9, offset=0)
        return {id: [node.id for node in nodes] for id, nodes in found.items() if nodes}

    with pytest.raises(InterruptedError):
        await import_store(space, folder, broken_off)
    report = (await import_store(space, folder)).to_dict()
    assert await refs() == {"a": ["b", "c"], "b": ["a"], "low": ["a"], "c": ["b"]}
    assert report["skipped"]["reasons"] == {NO_LINK: 1}
    await space.remove_ref("b", "a")
    await space.delete_session("low", 1, 9)
    write(folder, {"sessions/d/meta.json": meta("d", "gone", at=5, refs=["a"])})
    await space.delete_session("c", 1, 9)
    await space.import_session(ImportDraft(id="c", label="Ours", turn_count=0, messages=()))
    write(folder, {"sessions/low/meta.json": meta("low", "c", at=5)})
    report = (await import_store(space, folder)).to_dict()
    assert await refs() == {"a": ["b"], "d": ["a"]}
    assert report["skipped"]["reasons"] == {OTHER_STORE: 1, BELOW_OTHER: 1, NO_TARGET: 2}


async def test_core_data_alone(space: SpaceStore, tmp_path: Path) -> None:
    """They are an import, by any key that a record may have; a value that is too large is left out."""
    folder = write(tmp_path, {"core.json": {"हिन्दी": 1, "large": "x" * 99}, "sessions/torn/meta.json": b"{"})
    for outcome in (BesideOutcome.IMPORTED, BesideOutcome.PRESENT):
        report = await import_store(space, folder, max_text=100)
        assert (report.beside, report.imported_anything_valid) == ({outcome: 1}, True)
        assert report.to_dict()["skipped"]["reasons"][LARGE] == 1


async def test_a_store_of_records_alone(space: SpaceStore, tmp_path: Path) -> None:
    """Lines that are broken are told; sessions may hang deep below each other."""
    files = {"sessions/s0/meta.json": meta("s0")}
    files |= {f"sessions/s{n}/meta.json": meta(f"s{n}", f"s{n - 1}") for n in range(1, 60)}
    folder = write(tmp_path, {**files, "sessions/s59/records.jsonl": lines("{", record("user", "deep"))})
    report = (await import_store(space, folder)).to_dict()
    assert (report["sessions"]["imported"], report["skipped"]["count"]) == (60, 1)
    assert (await space.nodes(["s59"]))["s59"].depth == 59
