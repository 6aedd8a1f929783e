"""The own export format while others write: what is told is whole, and nobody waits for ever."""

import asyncio
import random
from asyncio import Task
from collections import Counter, deque
from collections.abc import Awaitable, Callable

import pytest
from neo4j.exceptions import Neo4jError

from stello_graph.ids import new_id
from stello_graph.interchange.jsonl import export_lines
from stello_graph.interchange.jsonl.export_report import ExportReport
from stello_graph.interchange.report import SessionOutcome
from stello_graph.model.copies import RefDraft, RestoreDraft, SessionCopy
from stello_graph.ports import SpaceStore
from stello_graph.store import neo4j
from stello_graph.store.store import GraphStore
from tests.conformance.copying import Line, empty, exported, imported, lines, remarks
from tests.conformance.databases import Database
from tests.conformance.drafts import child, create, exchange, fork_of, many, said, texts, transcript
from tests.conformance.invariants import check_invariants
from tests.conformance.racing import race

Act = Callable[[], Awaitable[object]]


def meanwhile(space: SpaceStore, *acts: Act | None) -> None:
    """Does one of these before each time that messages are read for an export."""
    real, waiting = space.message_copies, list(acts)

    async def after_others(*args: object, **given: object) -> object:
        act = waiting.pop(0) if waiting else None
        if act is not None:
            await act()
        return await real(*args, **given)  # type: ignore[arg-type]

    space.message_copies = after_others  # type: ignore[method-assign, assignment]


def check_whole(file: bytes) -> dict[str, list[str]]:
    """Each session has all that it counts, and shares with one that has told it before; its messages' ids."""
    told: dict[str, set[str]] = {}
    found: dict[str, list[str]] = {}
    ends: dict[str, tuple[int, int]] = {}
    seqs: dict[str, list[int]] = {}
    turns: Counter[str] = Counter()
    for line in lines(file, "session", "turn", "message"):
        if line["kind"] == "session":
            id = line["id"]
            found[id], told[id], seqs[id] = [], set(), []
            ends[id] = line.get("nextSeq", 1), line.get("turnCount", 0)
            continue
        id = line["session"]
        assert id == list(found)[-1], "a session's lines follow it"
        if line["kind"] == "turn":
            turns[id] += 1
            assert line["number"] == turns[id]
            continue
        found[id].append(line["id"])
        seqs[id].append(line["seq"])
        if "sharedWith" in line:
            assert line["id"] in told[line["sharedWith"]]
        else:
            told[id].add(line["id"])
    for id, (end, turn_count) in ends.items():
        assert seqs[id] == list(range(end - len(seqs[id]), end))
        assert turns[id] >= turn_count
    return found


async def test_trimmed_and_deleted_while_it_is_read(space: SpaceStore, elsewhere: SpaceStore) -> None:
    """A fork keeps what its source loses; the trimmed is told as it is then, the deleted not at all."""
    await create(space, "Top", id="z-top")
    for id in ("b-trimmed", "c-deleted", "d-source"):
        await create(space, id, id=id)
        await space.append(id, many(250))
    await space.fork(fork_of("d-source", id="a-fork", parent_id="z-top", through_seq=250), None)
    await space.fork(fork_of("b-trimmed", id="e-heir", parent_id="z-top", through_seq=250), None)
    kept = texts(many(250))
    meanwhile(
        space,
        None,  # the first messages of all
        lambda: space.trim("d-source", 130),
        None,
        lambda: space.trim("b-trimmed", 200),
        lambda: space.trim("b-trimmed", 10),
        None,
        lambda: space.delete_session("c-deleted", 1, 10),
    )

    file = await exported(space)

    lengths = {"a-fork": 250, "b-trimmed": 10, "d-source": 130, "e-heir": 250, "z-top": 0}
    assert {id: len(messages) for id, messages in check_whole(file).items()} == lengths
    in_full = Counter(line["session"] for line in lines(file, "message") if "sharedWith" not in line)
    assert in_full == {"a-fork": 250, "b-trimmed": 10, "e-heir": 240}
    report = await imported(elsewhere, file)
    assert remarks(report) == (0, 0)
    for id in ("a-fork", "e-heir"):
        assert texts(await transcript(elsewhere, id)) == kept
    assert texts(await transcript(elsewhere, "d-source")) == kept[-130:]
    assert await exported(elsewhere) == file


async def test_forked_and_trimmed_between_two_pages(space: SpaceStore, elsewhere: SpaceStore) -> None:
    """What was not there yet, or is gone by now, where it could have been told, is told by the fork."""
    await create(space, "Top", id="a-top")
    await create(space, "Source", id="b-source")
    await space.append("b-source", many(3))
    for number in range(40):
        await create(space, "Between", id=f"c-{number:02}")
    report, file = ExportReport(), b""
    async for line in export_lines(space, report):
        file += line
        if b'"id":"c-01"' in line:
            await space.append("b-source", [said("Later 1"), said("Later 2")])
            await space.fork(fork_of("b-source", id="d-fork", parent_id="a-top", through_seq=5), None)
            await space.trim("b-source", 0)
            await space.fork(fork_of("d-fork", id="e-fork", parent_id="a-top", through_seq=5), None)

    found = check_whole(file)
    assert [len(found[id]) for id in ("b-source", "d-fork", "e-fork")] == [3, 5, 5]
    assert remarks(await imported(elsewhere, file)) == (0, 0)
    wanted = [*texts(many(3)), "Later 1", "Later 2"]
    for id in ("d-fork", "e-fork"):
        assert texts(await transcript(elsewhere, id)) == wanted


async def test_while_the_forest_grows_and_shrinks(
    space: SpaceStore, twin: SpaceStore, store: GraphStore, database: Database
) -> None:
    """Whatever others do meanwhile, all of the file can be imported, and reads as it was."""
    top = await create(space, "Top")
    others = [Others(twin, top.id, seed) for seed in range(3)]
    done = asyncio.Event()
    disturbing = [asyncio.create_task(other.disturb(done)) for other in others]
    files: deque[bytes] = deque(maxlen=3)
    try:
        while min(other.came_of["delete"] for other in others) < 3 and not any(map(Task.done, disturbing)):
            files.append(await exported(space))
            check_whole(files[-1])
    finally:
        done.set()
        await asyncio.gather(*disturbing)

    written = {id: text for other in others for id, text in other.written.items()}
    for file in files:
        found = check_whole(file)
        there = await empty(store)
        report = await imported(there, file)
        assert report.to_dict()["skipped"]["count"] == 0, report.to_dict()
        assert report.sessions[SessionOutcome.IMPORTED] == len(found)
        for id, messages in found.items():
            stored = await transcript(there, id)
            assert len(stored) == len(messages)
            assert all(one.content == written[one.id] for one in stored if one.id in written)
        check_invariants(database.snapshot(there.space_id))


class Others:
    """Somebody who changes whatever is there.

    Attributes:
        written: the texts of some messages, by id.
    """

    def __init__(self, space: SpaceStore, top_id: str, seed: int) -> None:
        self.came_of: Counter[str] = Counter()
        self.written: dict[str, str] = {}
        self._space = space
        self._top_id = top_id
        self._chance = random.Random(seed)
        self._ids: list[str] = []

    async def disturb(self, done: asyncio.Event) -> None:
        """One act after another."""
        for _ in range(6):
            self._ids.append((await create(self._space)).id)
            await self._grow(self._ids[-1])
        acts = {"grow": self._grow, "fork": self._fork, "trim": self._trim, "delete": self._delete}
        while not done.is_set():
            act = self._chance.choice((*acts, "grow", "fork"))
            await acts[act](self._chance.choice(self._ids))
            self.came_of[act] += 1

    async def _grow(self, id: str) -> None:
        drafts = [said(f"{id} {place}") for place in range(self._chance.choice((1, 30)))]
        await self._space.append(id, drafts)
        self.written |= {draft.id: draft.content for draft in drafts}
        await exchange(self._space, id)

    async def _fork(self, id: str) -> None:
        through = (await self._space.sessions([id]))[id].next_seq - 1
        new = f"{self._chance.choice('az')}{new_id()}"
        draft = fork_of(id, id=new, parent_id=self._top_id, through_seq=through)
        self._ids.append((await self._space.fork(draft, None)).id)

    async def _trim(self, id: str) -> None:
        await self._space.trim(id, self._chance.choice((1, 5, 25)))

    async def _delete(self, id: str) -> None:
        if len(self._ids) > 1:
            await self._space.delete_session(id, 1, 10)
            self._ids.remove(id)


async def test_restoring_beside_others(
    space: SpaceStore, twin: SpaceStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sessions with links to what is there, links and children made at once: nobody has to try again."""
    deadlocks: list[str] = []
    real = neo4j._is_retryable

    def noted(error: Exception) -> bool:
        if isinstance(error, Neo4jError) and "Deadlock" in (error.code or ""):
            deadlocks.append(error.code or "")
        return real(error)

    monkeypatch.setattr(neo4j, "_is_retryable", noted)
    tops = sorted([(await create(space)).id for _ in range(4)])
    others = [(await create(space)).id for _ in range(20)]
    drafts = [_draft(tops[number % 4]) for number in range(12)]
    calls: list[Awaitable[object]] = []
    for number, draft in enumerate(drafts):
        links = [
            RefDraft(from_id=draft.session.id, to_id=id, at=1, order=number * 9 + place)
            for place, id in enumerate(reversed(tops))
            if id != draft.session.parent_id
        ]
        calls.append(space.restore_sessions([draft], links))
        calls.append(twin.create_session(child(tops[(number + 1) % 4]), None))
        calls.append(twin.add_ref(others[number % 20], tops[(number + 2) % 4]))
        calls.append(space.add_ref(tops[(number + 3) % 4], others[number % 20]))

    won, lost = await race(calls)

    assert (len(won), lost) == (48, [])
    assert won.count(True) >= 12
    assert deadlocks == []
    nodes = await space.nodes(tops)
    assert sum(node.child_count for node in nodes.values()) == 24


async def test_waiting_for_what_a_link_leads_to(
    space: SpaceStore, twin: SpaceStore, database: Database
) -> None:
    """Who brings sessions with links waits for nodes before it holds the Space: others go on."""
    parent, end = [(await create(space)).id for _ in range(2)]
    drafts = [_draft(parent) for _ in range(2)]
    links = [RefDraft(from_id=draft.session.id, to_id=end, at=1, order=1) for draft in drafts]
    assert await space.restore_sessions(drafts[:1], links[:1]), "plans of queries are made by now"
    with database.held(f"{space.space_id}/{end}"):
        restoring = asyncio.create_task(space.restore_sessions(drafts[1:], links[1:]))
        await asyncio.sleep(1)
        await asyncio.wait_for(create(twin), timeout=30)

    assert await restoring
    found = await space.referenced_by([end], first=9, offset=0)
    assert {node.id for node in found[end]} == {draft.session.id for draft in drafts}


def _draft(parent_id: str) -> RestoreDraft:
    fields: Line = {"id": new_id(), "root_id": "", "parent_id": parent_id, "label": "Restored"}
    fields |= {"role": "STANDARD", "status": "ACTIVE", "strategy": "TREE"}
    fields |= {"created_at": 1, "updated_at": 1, "last_active_at": 1}
    return RestoreDraft(session=SessionCopy.model_validate(fields))
