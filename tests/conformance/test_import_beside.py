"""An import beside others who write: no conversation ends it, and what it tells is true."""

import asyncio
import inspect
import io
import json
from collections import Counter
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any

import pytest

from stello_graph.errors import NotFound, StoreUnavailable
from stello_graph.interchange import lots
from stello_graph.interchange import sessions as planning
from stello_graph.interchange.importer import import_intake
from stello_graph.interchange.intake import Intake
from stello_graph.interchange.report import ImportReport
from stello_graph.interchange.writing import ARCHIVED, BEYOND, BUSY, CHANGED, LEAVES
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import PlacedDraft
from stello_graph.ports import SpaceStore
from tests.conformance.databases import Database
from tests.conformance.drafts import begin, said, transcript
from tests.conformance.racing import race
from tests.unit.interchange.exports import conversation, reply, user

Json = dict[str, Any]


def talk(id: str, length: int, branch_at: int | None = None) -> Json:
    """A conversation of so many messages in a row, and perhaps one more that leaves it."""
    names = [f"{id}{n}" for n in range(1, length + 1)]
    said = [(user if n % 2 else reply)(name) for n, name in enumerate(names, 1)]
    nodes = list(zip([None, *names], said, strict=False))
    if branch_at is not None:
        nodes.append((names[branch_at - 1], reply(f"{id}-branch")))
    return conversation(*nodes, id=id, current=names[-1])


async def imported(space: SpaceStore, *conversations: Json) -> ImportReport:
    file = io.BytesIO(json.dumps(conversations).encode())
    return await import_intake(space, Intake.of_stream(file, max_bytes=1 << 30))


async def texts(space: SpaceStore, id: str) -> list[str]:
    return [one.id.rpartition(":")[2] for one in await transcript(space, f"chatgpt:{id}")]


def sessions(report: ImportReport) -> tuple[int, int, int]:
    told = report.to_dict()["sessions"]
    return told["imported"], told["extended"], told["present"]


def reasons(report: ImportReport) -> dict[str, int]:
    found: dict[str, int] = report.to_dict()["skipped"]["reasons"]
    return found


class Meddled:
    """A store in which somebody does something just before a write, so many times."""

    def __init__(
        self, space: SpaceStore, write: str, work: Callable[[], Awaitable[object]], times: int
    ) -> None:
        self._space = space
        self._write = write
        self._work = work
        self._times = times

    def __getattr__(self, name: str) -> Any:
        wanted = getattr(self._space, name)
        if name != self._write:
            return wanted

        async def meddled(*args: Any, **given: Any) -> Any:
            if self._times:
                self._times -= 1
                await self._work()
            return await wanted(*args, **given)

        return meddled


def meddled(space: SpaceStore, write: str, work: Callable[[], Awaitable[object]], times: int = 1) -> Any:
    return Meddled(space, write, work, times)


async def test_sessions_that_take_nothing(space: SpaceStore) -> None:
    """An archived one stays as it is, and so does what leaves it there; the rest comes."""
    await imported(space, talk("archived", 2))
    await space.set_status("chatgpt:archived", SessionStatus.ARCHIVED)
    grown = (talk("archived", 4, branch_at=3), talk("new", 2))

    first, report = [await imported(space, *grown) for _ in range(2)]

    assert (sessions(first)[:2], sessions(report)[:2]) == ((1, 0), (0, 0))
    assert reasons(first) == reasons(report) == {ARCHIVED: 1, LEAVES: 1}
    assert report.conversations == 2
    assert await texts(space, "archived") == ["archived1", "archived2"]
    assert await texts(space, "new") == ["new1", "new2"]
    where = report.to_dict()["skipped"]["details"][0]["where"]
    assert where == 'conversation 1 "T", session chatgpt:archived'

    await space.set_status("chatgpt:archived", SessionStatus.ACTIVE)
    report = await imported(space, *grown)
    assert sessions(report)[:2] == (1, 1)
    assert reasons(report) == {}
    assert await texts(space, "archived") == ["archived1", "archived2", "archived3", "archived4"]


async def test_branches_beyond_the_limit(space: SpaceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are told, by each import, and the current path is there."""
    monkeypatch.setattr(planning, "MAX_SHARED", 2)
    first, again = [await imported(space, talk("many", 4, branch_at=3)) for _ in range(2)]

    assert (sessions(first), sessions(again)) == ((1, 0, 0), (0, 0, 1))
    assert reasons(first) == reasons(again) == {BEYOND: 1}
    assert await texts(space, "many") == ["many1", "many2", "many3", "many4"]


async def test_a_turn_that_begins_meanwhile(space: SpaceStore) -> None:
    """Its session is left to it, and the import goes on."""
    await imported(space, talk("busy", 2))
    turn = meddled(space, "append", lambda: begin(space, "chatgpt:busy", "More"))

    report = await imported(turn, talk("busy", 4), talk("new", 2))

    assert (sessions(report), reasons(report)) == ((1, 0, 1), {BUSY: 1})


async def test_an_older_file_that_is_faster(space: SpaceStore) -> None:
    """What it has not is added, and a branch leaves where it leaves; each is counted once."""
    old, grown = talk("a", 2), talk("a", 6, branch_at=3)

    meddling = meddled(space, "import_sessions", lambda: imported(space, old))
    report = await imported(meddling, talk("z", 2), grown, talk("b", 2))

    assert (sessions(report), report.messages, report.forks) == ((3, 1, 0), 9, 1)
    assert reasons(report) == {}
    assert await texts(space, "a") == [f"a{n}" for n in range(1, 7)]
    (branch,) = [
        one
        for id, one in (await space.stored_transcripts(["chatgpt:a"]))["chatgpt:a"].items()
        if id != "chatgpt:a"
    ]
    assert [id.rpartition(":")[2] for id in branch.message_ids] == ["a1", "a2", "a3", "a-branch"]


async def test_one_conversation_twice_in_a_file(space: SpaceStore) -> None:
    """What the second has more is added, and each message is there once."""
    report = await imported(space, talk("a", 2), talk("b", 2), talk("a", 4), talk("b", 2))

    assert (sessions(report), report.messages) == ((2, 1, 1), 6)
    assert await texts(space, "a") == ["a1", "a2", "a3", "a4"]


async def test_a_session_that_goes_on_meanwhile(space: SpaceStore) -> None:
    """It is planned anew: what comes after messages of our own becomes a fork."""
    await imported(space, talk("a", 2))

    async def own() -> None:
        await space.append("chatgpt:a", [said("mine", id="mine")])

    report = await imported(meddled(space, "append", own), talk("a", 4))

    assert (sessions(report), reasons(report)) == ((1, 0, 1), {})
    assert await texts(space, "a") == ["a1", "a2", "mine"]


async def test_a_session_that_never_rests(space: SpaceStore) -> None:
    """In the end it is left out, and the import goes on."""

    async def gone() -> None:
        with suppress(NotFound):
            await space.delete_session("chatgpt:a", 1, 10)

    restless = meddled(space, "import_session", gone, times=99)
    report = await imported(restless, talk("a", 4, branch_at=2), talk("b", 2))

    assert reasons(report) == {CHANGED: 1}
    assert await texts(space, "b") == ["b1", "b2"]


async def test_one_file_twice_at_once(space: SpaceStore, twin: SpaceStore) -> None:
    """Grown since it was imported, or new: all of it is there once, and both reports are true."""
    for length in (3, 7, 12):
        file = [talk(f"c{n}", length, branch_at=length - 1) for n in range(4)]
        reports, lost = await race(imported(one, *file) for one in (space, twin))

        assert lost == []
        assert [reasons(one) for one in reports] == [{}, {}]
        for n in range(4):
            assert await texts(space, f"c{n}") == [f"c{n}{m}" for m in range(1, length + 1)]


class Watched:
    """A store that tells how often what was asked of it, and holds the first write of sessions until the
    next conversations were looked for.
    """

    def __init__(self, space: SpaceStore) -> None:
        self._space = space
        self._sought = asyncio.Event()
        self.asked: Counter[str] = Counter()

    def __getattr__(self, name: str) -> Any:
        wanted = getattr(self._space, name)

        async def watched(*args: Any, **given: Any) -> Any:
            self.asked[name] += 1
            if self.asked["stored_transcripts"] > 1:
                self._sought.set()
            if name == "import_sessions":
                await asyncio.wait_for(self._sought.wait(), 30)
            return await wanted(*args, **given)

        return watched if inspect.iscoroutinefunction(wanted) else wanted


def watched(space: SpaceStore) -> Any:
    return Watched(space)


async def test_the_next_are_prepared_meanwhile(
    space: SpaceStore, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are written after those before them, so that all are in the order of the file."""
    monkeypatch.setattr(lots, "_MOST", 2)
    ids = list("hgfedcba")
    store = watched(space)

    report = await imported(store, *(talk(id, 2) for id in ids))

    assert (sessions(report), report.messages) == ((8, 0, 0), 16)
    assert store.asked == {"stored_transcripts": 4, "import_sessions": 4}
    nodes = await space.nodes([f"chatgpt:{id}" for id in ids])
    assert [nodes[f"chatgpt:{id}"].index for id in ids] == list(range(8))
    events = sorted(database.snapshot(space.space_id)["event"], key=lambda row: row["seq"])
    assert [row["nodeId"] for row in events] == [f"chatgpt:{id}" for id in ids]


async def test_one_conversation_in_two_lots(space: SpaceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second is prepared when the first is written: it is not tried in vain."""
    monkeypatch.setattr(lots, "_MOST", 2)
    told = [talk("z", 2), talk("y", 2), talk("a", 2), talk("b", 2), talk("a", 4), talk("b", 2), talk("c", 2)]
    store = watched(space)

    report = await imported(store, *told)

    assert (sessions(report), report.messages) == ((5, 1, 1), 12)
    assert store.asked == {"stored_transcripts": 4, "import_sessions": 4, "append": 1}
    assert await texts(space, "a") == ["a1", "a2", "a3", "a4"]


async def test_a_write_that_fails(space: SpaceStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """What is before it stays, what is after it is not written."""
    monkeypatch.setattr(lots, "_MOST", 1)
    make = space.import_sessions

    async def failing(drafts: Sequence[PlacedDraft], after: Awaitable[object] | None = None) -> bool:
        if drafts[0].id == "chatgpt:b":
            raise StoreUnavailable("away")
        return await make(drafts, after)

    monkeypatch.setattr(space, "import_sessions", failing)

    with pytest.raises(StoreUnavailable, match="away"):
        await imported(space, *(talk(id, 2) for id in "abcd"))

    nodes = await space.nodes([f"chatgpt:{id}" for id in "abcd"])
    assert list(nodes) == ["chatgpt:a"]
