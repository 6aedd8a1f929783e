"""The own export format on every engine: all that a Space holds goes out, and in again, as it was."""

import tracemalloc
from collections.abc import Awaitable, Callable
from typing import Any

import orjson
import pytest

from stello_graph.demo.load import load_demo
from stello_graph.ids import new_id
from stello_graph.interchange.jsonl import ExportReport, export_lines
from stello_graph.interchange.jsonl.lines import Kind
from stello_graph.interchange.report import SessionOutcome
from stello_graph.model.copies import Place, RefDraft, RestoreDraft
from stello_graph.model.knowledge import Skill
from stello_graph.model.memory import InsightDraft, IntegrationDraft
from stello_graph.model.profile import ForkProfile
from stello_graph.model.space import SpaceConfig, Trigger
from stello_graph.model.values import SessionRole, SessionStatus
from stello_graph.model.writes import ImportDraft
from stello_graph.ports import SpaceStore
from stello_graph.session.context.compile import compile_context
from stello_graph.store.store import GraphStore
from tests.conformance.copying import Line, empty, exported, imported, lines, remarks
from tests.conformance.databases import Database
from tests.conformance.drafts import (
    begin,
    child,
    create,
    end_of,
    exchange,
    failure_of,
    fork_of,
    many,
    said,
    summary_of,
    told,
    tool_group,
    transcript,
    usage,
)
from tests.conformance.invariants import check_invariants

HEADER = {"format": "stello-graph", "version": 1}


async def grown(space: SpaceStore) -> None:
    """A forest that has something in every field."""
    await load_demo(space)
    now = await space.space()
    config = SpaceConfig(system_prompt="Be brief.", shared_memory=True, integrate_on=(Trigger.ON_ARCHIVE,))
    assert await space.configure(now.model_copy(update={"name": "森", "config": config})) is not None
    top = await create(
        space, "Top", metadata={"b": [2**64 - 1], "a": {"z": None}}, skills=(), tags=("t", "s")
    )
    await exchange(space, top.id, "What?", "That.")
    begun = await begin(space, top.id)
    await space.end_turn(end_of(begun.turn, *tool_group(2), told("Done."), usage=usage(3)))
    await space.end_turn(failure_of((await begin(space, top.id)).turn))
    fork = await space.fork(fork_of(top.id, through_seq=5, opening=told("Go on.")), None)
    again = await space.fork(fork_of(fork.id, through_seq=4), None)
    await space.append(again.id, [said("Mine", parts=[{"type": "text", "text": "Mine"}]), told("Yours")])
    await space.trim(top.id, 3)
    await space.store_compression(again.id, summary_of(3), usage=usage(1))
    await space.put_insight(again.id, "Look there.", top.id)
    await space.put_insight(fork.id, "Gone.", None)
    await space.clear_insight(fork.id)
    lost = await create(space, "Lost")
    await space.append(lost.id, many(4))
    heirs = [await space.fork(fork_of(lost.id, parent_id=top.id, through_seq=n), None) for n in (2, 4, 3)]
    await space.delete_session(lost.id, 1, 10)
    await space.delete_session(heirs[0].id, 1, 10)
    main = await create(space, "Main", role=SessionRole.MAIN)
    spoke = await space.create_session(child(main.id), None)
    await space.store_digest(spoke.id, "memory 记忆", revision=0, through_seq=0, usage=usage(2))
    insight = InsightDraft(session_id=spoke.id, content="From above.")
    await space.store_integration(
        main.id, IntegrationDraft(synthesis="S", insights=(insight,), through_seq=1, revision=0)
    )
    for one, other in ((spoke, again), (again, main), (spoke, heirs[1]), (spoke, top)):
        await space.add_ref(one.id, other.id)
    await space.remove_ref(spoke.id, heirs[1].id)
    await space.add_ref(spoke.id, heirs[1].id)
    await space.set_status(fork.id, SessionStatus.ARCHIVED)


async def stars(space: SpaceStore) -> tuple[Line, list[list[str]]]:
    """The map, by session: the order of cousins is nobody's, nor is that of links of one millisecond."""
    found = await space.star_map(None, max_depth=None, max_nodes=10**9, include_archived=True)
    columns = dict(found.columns)
    ids, refs = columns.pop("id"), columns.pop("refs")
    for name in ("parent", "source"):
        columns[name] = [None if place < 0 else ids[place] for place in columns[name]]
    shown = {id: [values[place] for values in columns.values()] for place, id in enumerate(ids)}
    return shown, sorted(([ids[place] for place in ref] for ref in refs), key=lambda ref: ref[0])


async def previews(space: SpaceStore, ids: list[str]) -> list[object]:
    found: list[object] = []
    for id in ids:
        conversation = await space.conversation(id)
        insight = conversation.session.insight
        found.append(
            compile_context(
                conversation,
                "And now?",
                insight=None if insight is None else insight.content,
                max_context_tokens=100_000,
            )
        )
    return found


@pytest.mark.covers("TC08")
async def test_there_and_back(
    space: SpaceStore, store: GraphStore, database: Database, elsewhere: SpaceStore
) -> None:
    """The same bytes from every store that it was brought to, and the same context for each session."""
    await grown(space)
    told = ExportReport()
    file = await exported(space, report=told)

    first = await imported(elsewhere, file)
    back = await empty(store)
    second = await imported(back, file)

    assert remarks(first) == remarks(second) == (0, 0)
    assert first.messages == second.messages == told.told[Kind.MESSAGE]
    assert told.shared == sum("sharedWith" in line for line in lines(file)) > 0
    assert await exported(elsewhere) == file
    assert await exported(back) == file
    check_invariants(database.snapshot(back.space_id))
    ids = [line["id"] for line in lines(file, "session")]
    assert await previews(back, ids) == await previews(elsewhere, ids) == await previews(space, ids)
    assert await stars(back) == await stars(elsewhere) == await stars(space)
    assert (await back.space()).usage == (await space.space()).usage

    events = (await back.space()).event_seq
    report = await imported(back, file)
    assert (report.sessions.total(), report.sessions[SessionOutcome.PRESENT]) == (len(ids), len(ids))
    assert "Nothing was added: all of it is there already." in list(report.lines())
    assert report.imported_anything_valid
    assert remarks(report) == (0, 0)
    assert (await back.space()).event_seq == events
    assert await exported(back) == file
    assert (await create(back, "Later")).event_seq == events + 1


async def test_what_is_told(space: SpaceStore) -> None:
    """Shared messages stand once; nothing tells of events, leases and keys; an open turn is interrupted."""
    await grown(space)
    (top,) = [line for line in lines(await exported(space), "session") if line["label"] == "Top"]
    begun = await begin(space, top["id"], "Unanswered")
    report = ExportReport()
    file = await exported(space, report=report)

    assert lines(file)[0] == {"format": "stello-graph", "version": 1}
    in_full = [line["id"] for line in lines(file, "message") if "sharedWith" not in line]
    assert len(in_full) == len(set(in_full))
    shared = [line for line in lines(file, "message") if "sharedWith" in line]
    assert {line["id"] for line in shared} <= set(in_full)
    assert len(shared) > 5
    (turn,) = [line for line in lines(file, "turn") if line["id"] == begun.turn.id]
    assert (turn["status"], turn["stopReason"], report.open_turns) == ("FAILED", "INTERRUPTED", 1)
    names = {name for line in lines(file) for name in line}
    assert not names & {"eventSeq", "memorySeq", "integratedSeq", "fence", "leaseUntil", "openTurnId", "lock"}
    await space.end_turn(failure_of(begun.turn))


async def test_a_part(space: SpaceStore, store: GraphStore, database: Database) -> None:
    """A subtree is whole by itself: its root hangs on nothing, messages from above are told in it."""
    await grown(space)
    (top,) = [line for line in lines(await exported(space), "session") if line["label"] == "Top"]
    (fork,) = [
        line for line in lines(await exported(space), "session") if line.get("sourceSessionId") == top["id"]
    ]
    other = await create(space, "Outside")
    await space.set_status(fork["id"], SessionStatus.ACTIVE)
    await space.add_ref(fork["id"], other.id)
    report = ExportReport()
    file = await exported(space, fork["id"], report)

    told_sessions = lines(file, "session")
    assert len(told_sessions) == 2
    assert report.links_outside == 2
    assert lines(file, "space", "record", "skill", "sharedMemory", "profile") == []
    there = await empty(store)
    assert remarks(await imported(there, file)) == (0, 0)
    assert lines(await exported(there))[2:] == lines(file)[1:]
    node = (await there.nodes([fork["id"]]))[fork["id"]]
    assert (node.parent_id, node.depth, node.source_session_id) == (None, 0, top["id"])
    assert await transcript(there, fork["id"]) == await transcript(space, fork["id"])
    check_invariants(database.snapshot(there.space_id))


async def test_new_ids(space: SpaceStore) -> None:
    """Each time another forest of the same shape; what it says of itself leads to its own sessions."""
    await grown(space)
    file = await exported(space)
    count = len(lines(file, "session"))

    reports = [await imported(space, file, new_ids=True) for _ in range(2)]

    assert [report.sessions[SessionOutcome.IMPORTED] for report in reports] == [count, count]
    assert [remarks(report) for report in reports] == [(0, 0), (0, 0)]
    found = lines(await exported(space), "session")
    assert len(found) == 3 * count
    old = {line["id"] for line in lines(file, "session")}
    new = [line for line in found if line["id"] not in old]
    named = {line.get(name) for line in new for name in ("parentId", "sourceSessionId")}
    gone = {line.get("sourceSessionId") for line in lines(file, "session")} - old
    assert not named & old
    assert named - gone <= {line["id"] for line in new}
    ids = {line["id"] for line in new}
    assert {ref["toId"] for line in new for ref in line.get("refs", ())} <= ids
    insights = {line["insight"].get("sourceSessionId") for line in new if "insight" in line} - {None}
    assert insights
    assert insights <= ids
    _check_inside(lines(await exported(space), "turn", "message"), lines(file, "turn", "message"), ids, gone)
    labels = [[line["label"] for line in found if line["id"] in ids] for ids in _thirds(found, old)]
    assert labels[0] == labels[1]


def _check_inside(told: list[Line], old: list[Line], sessions: set[str], gone: set[Any]) -> None:
    """What the lines of new sessions name is new and among them, but for sessions and turns that are gone."""
    new = [line for line in told if line["session"] in sessions]
    assert len(new) == 2 * len(old)
    for kind in ("turn", "message"):
        before = {line["id"] for line in old if line["kind"] == kind}
        ids = {line["id"] for line in new if line["kind"] == kind}
        assert not ids & before
        assert len(ids) == 2 * len(before)
    homes = {line[name] for line in new for name in ("sharedWith", "writtenIn") if name in line}
    assert homes & sessions
    assert homes <= sessions | gone
    turns = {line["id"] for line in told if line["kind"] == "turn"}
    left = {line["turnId"] for line in old if "turnId" in line} - turns
    named = {line["turnId"] for line in new if "turnId" in line}
    assert named & turns
    assert len(named - turns) == 2 * len(left)


def _thirds(found: list[Line], old: set[str]) -> list[set[str]]:
    new = sorted(line["id"] for line in found if line["id"] not in old)
    return [set(new[: len(new) // 2]), set(new[len(new) // 2 :])]


async def test_beside_others(space: SpaceStore, store: GraphStore, database: Database) -> None:
    """What a Space has stays; what it has not comes after it, also below a session that it has."""
    await grown(space)
    file = await exported(space)
    there = await empty(store)
    own = await create(there, "Own")
    record = lines(file, "record")[0]["key"]
    await there.put_record(record, "own", None)
    top = next(line for line in lines(file, "session") if line["label"] == "Top")
    await there.import_session(ImportDraft(id=top["id"], label="Mine", turn_count=0, messages=tuple(many(1))))
    before = (await there.space()).config

    report = await imported(there, file)

    assert report.sessions[SessionOutcome.PRESENT] == 1
    told = {one["where"].partition(", ")[2] for one in report.to_dict()["skipped"]["details"]}
    assert told >= {"space", f"record {record}"}
    assert (await there.space()).config == before
    mine = (await there.sessions([top["id"], own.id]))[top["id"]]
    assert (mine.label, mine.message_count) == ("Mine", 1)
    roots = (await there.children([None], after=-1, first=1_000))[None]
    assert roots is not None
    assert [node.label for node in roots[:2]] == ["Own", "Mine"]
    assert len(lines(file, "session")) == (await there.space()).session_count - 1
    children = (await there.children([top["id"]], after=-1, first=10))[top["id"]]
    assert children
    check_invariants(database.snapshot(there.space_id))


async def test_a_space_that_is_somebodys(store: GraphStore) -> None:
    """A name that was given stays; one that holds something stays whole. Both are told."""
    settings = {"kind": "space", "name": "Theirs", "config": {"everyNTurns": 9}, "createdAt": 7}
    record = {"kind": "record", "key": "theirs", "value": 1}
    # The settings come first, wherever they stand.
    file = b"".join(orjson.dumps(line) + b"\n" for line in (HEADER, *[record] * 60, settings))
    free, mine = await empty(store), store.in_space(f"mine-{new_id()}")
    await store.create_space(mine.space_id, "Mine")
    for there, name, skipped in ((free, "Theirs", 59), (mine, "Mine", 60)):
        assert remarks(await imported(there, file)) == (skipped, 0)
        found = await there.space()
        assert (found.name, found.config.every_n_turns, found.created_at) == (name, 9, 7)

    fillings: list[Callable[[SpaceStore], Awaitable[object]]] = [
        lambda there: there.put_record("k", 1, None),
        lambda there: there.put_shared_memory("s", "summary", "body", limit=1),
        lambda there: there.put_skill(Skill(name="s", description="d", content="c"), limit=1),
        lambda there: there.put_profile(ForkProfile(name="p"), limit=1),
    ]
    for fill in fillings:
        there = await empty(store)
        await fill(there)
        before = await there.space()
        assert remarks(await imported(there, file)) == (61, 0)
        assert await there.space() == before


async def test_what_is_gone(space: SpaceStore, database: Database) -> None:
    """A session is not restored while a message that it shares, its parent or what it refers to is gone."""
    there = await create(space)
    before = database.snapshot(space.space_id)
    copy = (await space.session_copies([there.id]))[0].model_copy(update={"id": "new", "next_seq": 2})
    shares = RestoreDraft(session=copy, places=(Place(seq=1, message_id="gone"),))
    below = RestoreDraft(session=copy.model_copy(update={"parent_id": "gone"}))
    ref = RefDraft(from_id="new", to_id="gone", at=1, order=1)

    for draft, refs in ((shares, []), (below, []), (RestoreDraft(session=copy), [ref])):
        assert not await space.restore_sessions([draft], refs)
    assert database.snapshot(space.space_id) == before
    assert await space.restore_sessions([RestoreDraft(session=copy)], [])
    turn = (await begin(space, "new")).turn
    assert await space.taken_turns([turn.id, "gone"]) == {turn.id: "new"}


async def test_many_messages(space: SpaceStore) -> None:
    """A session of 5,000 messages takes no more memory to export than one of 500."""
    peaks = []
    for count in (500, 5_000):
        draft = ImportDraft(id=new_id(), label=str(count), turn_count=0, messages=tuple(many(count)))
        await space.import_session(draft)
        told_lines = 0
        tracemalloc.start()
        async for _ in export_lines(space, ExportReport(), draft.id):
            told_lines += 1
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
        assert told_lines == count + 2
    assert peaks[1] < 1.5 * peaks[0] + 500_000
