"""A store of the predecessor comes in whole, and once."""

from pathlib import Path

from stello_graph.interchange.predecessor import import_store
from stello_graph.interchange.predecessor.core import BAD_KEY, NULL, OTHER
from stello_graph.interchange.predecessor.forest import NO_PARENT
from stello_graph.interchange.predecessor.importer import WENT_ON
from stello_graph.interchange.writing import ARCHIVED
from stello_graph.model.values import SessionRole, SessionStatus
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import said, transcript
from tests.unit.interchange.stores import engine_store, lines, meta, mirrored_store, record, write


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
    refs = await space.refs(["a", "b"], first=9, offset=0)
    assert {id: [node.id for node in found] for id, found in refs.items()} == {"a": ["b"], "b": ["a"]}
    assert [one.content for one in await transcript(space, "a")][2:4] == ["the train", "the bus"]
    records = await space.records("", after="", first=9)
    assert {one.key: one.value for one in records} == {"profile.name": "Mei", "goals": ["Kyoto"]}

    before = database.snapshot(space.space_id)
    again = await import_store(space, folder)
    assert database.snapshot(space.space_id) == before
    assert (again.to_dict()["sessions"], again.records) == ({"imported": 0, "extended": 0, "present": 4}, 0)
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
    assert [one.content for one in await transcript(space, "y")] == ["Where?", "We talked here."]
    found = await space.record("topics")
    assert found is not None
    assert found.value == ["ours"]


async def test_a_store_of_records_alone(space: SpaceStore, tmp_path: Path) -> None:
    """Lines that are broken are told; sessions may hang deep below each other."""
    files = {"sessions/s0/meta.json": meta("s0")}
    files |= {f"sessions/s{n}/meta.json": meta(f"s{n}", f"s{n - 1}") for n in range(1, 60)}
    folder = write(tmp_path, {**files, "sessions/s59/records.jsonl": lines("{", record("user", "deep"))})
    report = (await import_store(space, folder)).to_dict()
    assert (report["sessions"]["imported"], report["skipped"]["count"]) == (60, 1)
    assert (await space.nodes(["s59"]))["s59"].depth == 59
