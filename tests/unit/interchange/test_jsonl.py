"""The own format as others may write it: in any order, damaged, wrong; nothing is lost silently."""

import asyncio
import io
import json
import random
import time
from collections import Counter
from collections.abc import Awaitable, Callable
from itertools import product
from typing import Any, TypeVar

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from stello_graph.errors import Conflict, InvalidInput
from stello_graph.ids import new_id
from stello_graph.interchange.detect import Format
from stello_graph.interchange.jsonl import restore
from stello_graph.interchange.jsonl.links import IN_LINE, NO_TARGET
from stello_graph.interchange.jsonl.loading import NO_HOME
from stello_graph.interchange.jsonl.lots import CHANGED
from stello_graph.interchange.jsonl.reading import Terms
from stello_graph.interchange.jsonl.scan import Scan
from stello_graph.interchange.report import BesideOutcome, ImportReport, SessionOutcome
from stello_graph.interchange.text import MAX_METADATA
from stello_graph.model.message import Draft, MessageRole
from stello_graph.model.space import default_name
from stello_graph.model.writes import PlacedDraft
from stello_graph.ports import SpaceStore
from stello_graph.store.sqlite import SqliteEngine
from stello_graph.store.store import GraphStore
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
    texts,
)

T = TypeVar("T")


@pytest.mark.parametrize(
    "first",
    [
        b"",
        b"{}",
        b"not a header",
        dumped({"format": "stello-graph"}),
        dumped({"format": "stello-graph", "version": 0}),
        dumped({"format": "stello-graph", "version": True}),
        dumped({"format": "others", "version": 1}),
        dumped(session("a")),
    ],
)
async def test_no_header(space: SpaceStore, first: bytes) -> None:
    """Refused before anything is written."""
    with pytest.raises(InvalidInput, match="header"):
        await imported(space, first + dumped(session("a")), format=Format.JSONL)
    assert (await space.space()).session_count == 0


async def test_a_newer_version(space: SpaceStore) -> None:
    file = dumped(HEADER | {"version": 2, "more": [1]}, session("a"))
    with pytest.raises(InvalidInput, match="version 2"):
        await imported(space, file)
    assert (await space.space()).session_count == 0


async def test_new_ids_are_for_own_exports(space: SpaceStore) -> None:
    with pytest.raises(InvalidInput, match="itself"):
        await imported(space, b'[{"mapping": {}}]', new_ids=True)


async def test_the_least(space: SpaceStore) -> None:
    """What people write by hand: defaults hold, times are those of the import."""
    file = dumped(HEADER, session("trip"), message("trip", 1), session("day", parentId="trip"))

    report = await imported(space, file)

    assert remarks(report) == {}
    assert (report.sessions[SessionOutcome.IMPORTED], report.messages) == (2, 1)
    trip = (await space.sessions(["trip"]))["trip"]
    assert (trip.label, trip.message_count, trip.next_seq, trip.metadata) == ("TRIP", 1, 2, {})
    assert trip.created_at == trip.updated_at == trip.last_active_at > 0


async def test_damage(space: SpaceStore) -> None:
    """Each thing that is wrong is told with its line; the rest is there."""
    lines: list[Line | bytes] = [
        HEADER,
        message("b", 2),  # before its session
        b'{"kind": "session", "id"\n',
        b"[]\n",
        {"kind": "planet"},
        session("b", parentId="c", refs=[{"toId": "a", "at": 5}, {"toId": "b", "at": 5}]),
        session("c", parentId="b", refs=[{"toId": "b", "at": 1}, {"toId": "e", "at": 1}]),
        session("a", label="x" * 201 + "\n", index=2**60),
        session("a"),
        session("spaces are no ids"),
        session("d", createdAt=1e30),
        session("e", parentId="nobody", refs=[{"toId": "nobody", "at": 1}]),
        message("b", 1),
        message("b", 2, id="again"),
        message("b", 5),
        message("b", 6, role="NARRATOR"),
        message("b", 2**60),
        message("nobody", 1),
        message("a", 1, id="b-2"),
        {"kind": "message", "session": "a", "seq": 2, "id": "b-1", "sharedWith": "b"},
        {"kind": "message", "session": "a", "seq": 3, "id": "lost", "sharedWith": "nobody"},
        {"kind": "turn", "session": "a", "id": "t", "number": 7, "status": "RUNNING"},
        {"kind": "turn", "session": "a", "id": "t", "number": 8, "status": "COMPLETED"},
        session("m", parentId="a", role="MAIN", compression=_summary(9)),
        b"\n",
        message("a", 4, content="x" * 5_000),
        {"kind": "skill", "name": "", "content": "c", "description": ""},
    ]

    report = await imported(space, dumped(*lines), max_object=4_000)

    told = remarks(report)
    wrong = {int(where.split(",")[0].removeprefix("line ")) for where in told}
    assert wrong == {*range(2, 13), 14, 16, 17, 18, 21, 23, 24, 26, 27}
    assert report.sessions[SessionOutcome.IMPORTED] == 5
    found = await space.sessions(list("abcem"))
    assert [found[id].message_count for id in "abcem"] == [2, 3, 0, 0, 0]
    page = await space.oldest_messages(["a", "b"], after=0, before=100, first=100, roles=None)
    assert [one.content for one in page["a"]] == ["a 1", "b 1"]
    assert [(one.seq, one.content) for one in page["b"]] == [(3, "b 1"), (4, "b 2"), (5, "b 5")]
    (turn,) = (await space.turns_of(["a"], before=10, first=10))["a"]
    assert (turn.number, turn.status, turn.stop_reason) == (1, "FAILED", "INTERRUPTED")
    assert len(found["a"].label) <= 200
    assert (found["m"].role, found["m"].compression) == ("STANDARD", None)
    refs = await space.refs(["b", "c"], first=10, offset=0)
    assert {id: [node.id for node in nodes] for id, nodes in refs.items()} == {"b": ["a"], "c": ["e"]}


def _summary(through: int) -> Line:
    return {"summary": "s", "throughSeq": through, "tokens": 1, "createdAt": 1}


WRONG_NUMBERS = [
    session("x", usage={"inputTokens": 2**63 - 1}),
    session("x", usage={"llmCalls": -1}),
    session("x", nextSeq=2**63 - 1),
    session("x", turnCount=-1),
    session("x", memoryRevision=2**31),
    session("x", splitTurn=2**62),
    session("x", createdAt=2**62),
    session("x", lastActiveAt=-1),
    session("x", refs=[{"toId": "a", "at": -5}]),
    session("x", insight={"content": "i", "putAt": 2**62}),
    session("x", compression=_summary(2**40)),
    message("a", 1, durationMs=2**31),
    message("a", 1, createdAt=-1),
    message("a", 2**31),
    message("a", 1, usage={"outputTokens": 2**62}),
    {"kind": "turn", "session": "a", "id": "t", "number": 2**60, "status": "COMPLETED"},
    {"kind": "turn", "session": "a", "id": "t", "number": 1, "status": "COMPLETED", "toolRounds": -1},
    {"kind": "record", "key": "k", "value": 1, "revision": 2**63 - 1},
    {"kind": "space", "usage": {"inputTokens": 2**63 - 1}, "name": "N"},
    {"kind": "space", "name": "N", "createdAt": -1},
    {"kind": "space", "name": 5},
    {"kind": "space", "name": "N", "config": {"strategy": "SIDEWAYS"}},
]


async def test_numbers_that_nothing_can_go_on_from(space: SpaceStore) -> None:
    """A count, place or time out of bounds costs its line, and no more: the rest is there and can be used."""
    file = dumped(HEADER, session("a"), message("a", 3), *WRONG_NUMBERS)

    report = await imported(space, file)

    wrong = sorted(int(where.split(",")[0].removeprefix("line ")) for where in remarks(report))
    assert wrong == list(range(4, 4 + len(WRONG_NUMBERS)))
    assert (report.sessions.total(), report.messages, report.beside.total()) == (1, 1, 0)
    more = Draft(id=new_id(), role=MessageRole.USER, content="on")
    assert await space.append("a", [more]) == (4, 4)


async def test_a_mark_of_the_byte_order(space: SpaceStore) -> None:
    """As some editors put it before the first line."""
    report = await imported(space, b"\xef\xbb\xbf" + dumped(HEADER, session("a")))
    assert (report.sessions.total(), remarks(report)) == (1, {})


async def test_time_grows_as_the_messages_do(space: SpaceStore) -> None:
    """A long transcript is stored in a time that is proportional to its length, in every way."""
    took: dict[int, list[float]] = {1_000: [], 8_000: []}
    took_placed: dict[int, list[float]] = {1_000: [], 8_000: []}
    for number, count in product(range(3), took):
        id = f"s{number}-{count}"
        turns = [
            {"kind": "turn", "session": id, "id": f"{id}.{n}", "number": n, "status": "COMPLETED"}
            for n in range(1, count // 2)
        ]
        file = dumped(HEADER, session(id), *(message(id, seq) for seq in range(1, count + 1)), *turns)
        began = time.process_time()
        report = await imported(space, file)
        took[count].append(time.process_time() - began)
        assert (report.messages, remarks(report)) == (count, {})

        drafts = tuple(Draft(id=new_id(), role=MessageRole.USER, content="x") for _ in range(count))
        began = time.process_time()
        assert await space.import_sessions([PlacedDraft(id=f"p{id}", label="P", messages=drafts)])
        took_placed[count].append(time.process_time() - began)
    for found in took, took_placed:
        assert min(found[8_000]) < 25 * min(found[1_000])


async def test_messages_that_do_not_show(space: SpaceStore) -> None:
    """A session that counts more than it has ends an export with a sentence."""
    await imported(space, dumped(HEADER, session("a"), message("a", 1), message("a", 2)))

    async def nothing(*args: Any, **given: Any) -> Any:
        return {}

    space.message_copies = nothing  # type: ignore[method-assign]
    with pytest.raises(Conflict, match='session "a" has more messages or turns than it shows'):
        await exported(space)


async def test_what_somebody_else_makes_meanwhile(space: SpaceStore) -> None:
    """A session that appears between looking and writing is there already; what hangs on it comes."""
    file = dumped(HEADER, session("a"), session("b"), session("c", parentId="a"))
    real, asked = space.restore_sessions, []

    async def late(drafts: Any, refs: Any) -> bool:
        asked.append([draft.session.id for draft in drafts])
        if len(asked) == 1:
            await imported(other, dumped(HEADER, session("a")))
        return await real(drafts, refs)

    other = type(space)(space._engine, space.space_id)  # type: ignore[attr-defined, call-arg]
    space.restore_sessions = late  # type: ignore[method-assign]
    report = await imported(space, file)

    assert asked == [["a", "b"], ["b"], ["c"]]
    assert dict(report.sessions) == {SessionOutcome.PRESENT: 1, SessionOutcome.IMPORTED: 2}


async def test_ids_that_others_have(space: SpaceStore) -> None:
    """Whoever shares a message that got another id shares that, in whatever order and lot they come; nobody
    gets a foreign text, not even where the file does not say what it shares.
    """
    foreign = [session("f"), message("f", 1, id="m1", turnId="t"), message("f", 2, id="gone")]
    turn = {"kind": "turn", "id": "t", "number": 1, "status": "COMPLETED"}
    await imported(space, dumped(HEADER, *foreign, {**turn, "session": "f"}))
    lines = [
        session("a"),
        shared("a", 1, "m1", "home"),
        session("b", parentId="a"),
        shared("b", 1, "m1", "home"),
        shared("b", 2, "gone", "home"),
        message("b", 3, id="m1", content="b's own"),
        session("home", parentId="b"),
        message("home", 1, id="m1", content="of home", turnId="t"),
        message("home", 2, id="m1", content="again", createdAt=7),
        message("home", 3, id="m3", turnId="t"),
        {**turn, "session": "home"},
        session("z", parentId="home"),
        shared("z", 1, "m1", "home"),
        shared("z", 2, "m1", "b"),
        shared("z", 3, "m3", "home"),
        shared("z", 4, "m3", "home"),
    ]

    report = await imported(space, dumped(HEADER, *lines))

    assert await texts(space, "f", "a", "b", "home", "z") == {
        "f": ["f 1", "f 2"],
        "a": ["of home"],
        "b": ["of home", "b's own"],
        "home": ["of home", "again", "home 3"],
        "z": ["of home", "b's own", "home 3", "home 3"],
    }
    told = remarks(report)
    assert {int(where.split(",")[0].removeprefix("line ")) for where in told if where[0] == "l"} == {
        *(3, 4, 5, 6, 7, 9, 10, 14, 15, 17)
    }
    assert (told["turn t"], report.messages) == ("its id is that of another turn: it got a new one", 5)
    file = [json.loads(line) for line in (await exported(space)).splitlines()]
    (own,) = [line for line in file if line.get("kind") == "turn" and line["session"] == "home"]
    turns = {line["turnId"] for line in file if line.get("content") in ("of home", "home 3")}
    assert turns == {own["id"]} != {"t"}


async def test_a_file_without_times_grows(space: SpaceStore) -> None:
    """What tells no time is the same message where it is of the same session: it is shared, not copied."""
    lines = [session("h"), message("h", 1), message("h", 2)]
    await imported(space, dumped(HEADER, *lines))
    more = [session("k"), shared("k", 1, "h-1", "h"), shared("k", 2, "h-2", "h"), message("k", 3)]

    report = await imported(space, dumped(HEADER, *lines, *more))

    assert (report.messages, remarks(report)) == (1, {})
    assert await texts(space, "k") == {"k": ["h 1", "h 2", "k 3"]}


async def test_what_goes_meanwhile(space: SpaceStore) -> None:
    """What was deleted costs the links that lead there and what hangs below it; a shared message that is gone
    comes from the file.
    """
    there = [session("out"), session("p"), session("h"), message("h", 1, createdAt=3)]
    await imported(space, dumped(HEADER, *there))
    real, asked = space.restore_sessions, []

    async def late(drafts: Any, refs: Any) -> bool:
        asked.append((sum(place.message is None for draft in drafts for place in draft.places), len(refs)))
        if len(asked) == 1:
            await space.delete_session("out", 1, 10)
            await space.delete_session("p", 1, 10)
            await space.delete_session("h", 1, 10)
        return await real(drafts, refs)

    space.restore_sessions = late  # type: ignore[method-assign]
    refs = [{"toId": "out", "at": 1}, {"toId": "b", "at": 2}, {"toId": "c", "at": 3}]
    file = dumped(
        HEADER,
        session("a", refs=refs),
        shared("a", 1, "h-1", "h"),
        session("b"),
        session("h", refs=[{"toId": "a", "at": 1}]),
        message("h", 1, createdAt=3),
        session("c", parentId="p"),
        session("d", parentId="c"),
    )
    report = await imported(space, file)

    assert asked[:2] == [(1, 4), (0, 1)]
    wrong = ["line 2, session a", "line 5, session h", "line 7, session c", "line 8, session d"]
    assert sorted(remarks(report)) == wrong
    assert report.to_dict()["skipped"]["reasons"] == {NO_TARGET: 3, CHANGED: 2}
    assert report.sessions[SessionOutcome.IMPORTED] == 2
    assert await texts(space, "a") == {"a": ["h 1"]}
    assert [node.id for node in (await space.refs(["a"], first=10, offset=0))["a"]] == ["b"]


class Counting(io.BytesIO):
    """Counts the lines that are read."""

    lines = 0

    def readline(self, size: int | None = -1, /) -> bytes:
        self.lines += 1
        return super().readline(size)


async def test_two_homes_in_turn(space: SpaceStore) -> None:
    """What is shared is looked up home by home, however the messages of two follow each other."""
    lines = [session("x"), session("y"), session("z", index=1)]
    for seq in range(1, 400, 2):
        lines += [message("x", seq), message("y", seq)]
        lines += [shared("z", seq, f"x-{seq}", "x"), shared("z", seq + 1, f"y-{seq}", "y")]
    stream = Counting(dumped(HEADER, *lines))

    report = ImportReport()
    await restore(space, stream, report, max_line=1_000)

    assert stream.lines < 4 * len(lines)
    assert report.messages == 400
    assert (await texts(space, "z"))["z"][:3] == ["x 1", "y 1", "x 3"]


LONG = "x" * 2_001
NOT_TO_BE_GIVEN: list[Line] = [
    {"kind": "record", "key": "a..b", "value": 1},
    {"kind": "record", "key": "a b", "value": 1},
    {"kind": "record", "key": "null", "value": None},
    {"kind": "record", "key": "long", "value": LONG},
    {"kind": "sharedMemory", "slug": "<a>", "summary": "s", "body": "b"},
    {"kind": "sharedMemory", "slug": "a", "summary": "s" * 501, "body": "b"},
    {"kind": "sharedMemory", "slug": "b", "summary": "s", "body": "b" * (64 * 1024 + 1)},
    {"kind": "skill", "name": "n" * 101, "description": "d", "content": "c"},
    {"kind": "skill", "name": "a", "description": "d", "content": " "},
    {"kind": "skill", "name": "b", "description": "d" * 1_001, "content": "c"},
    {"kind": "profile", "name": " "},
    {"kind": "profile", "name": "a", "prompt": "$ 5"},
    {"kind": "profile", "name": "b", "systemPrompt": LONG},
    {"kind": "profile", "name": "c", "skills": ["a\nb"]},
    session("a", tags=["a\nb"]),
    session("b", tags=[""]),
    session("c", tags=[f"t{n}" for n in range(101)]),
    session("d", skills=["s" * 201]),
    session("e", systemPrompt=LONG),
    session("f", overrides={"consolidatePrompt": LONG}),
    session("g", metadata={"a": "x" * MAX_METADATA}),
    {"kind": "space", "name": "a\nb"},
    {"kind": "space", "name": "N", "config": {"maxToolRounds": 101}},
    {"kind": "space", "name": "N", "config": {"consolidateOn": ["AFTER_CONSOLIDATE"]}},
    {"kind": "space", "name": "N", "config": {"splitGuard": {"minTurns": 1_000_001}}},
    {"kind": "space", "name": "N", "config": {"rolContext": "", "roleContext": LONG}},
]


async def test_what_would_be_refused_of_a_caller(space: SpaceStore) -> None:
    """Is not let in by a file: each line is told, with why. What is only unusual is stored as of a caller."""
    unusual: list[Line] = [
        session("ok", tags=["t", "t"], skills=[], metadata=[1]),
        {"kind": "skill", "name": " trimmed ", "description": "", "content": "c"},
        {"kind": "profile", "name": "p", "prompt": "$$ ${a}", "skills": ["s", "s"]},
    ]
    report = await imported(space, dumped(HEADER, *NOT_TO_BE_GIVEN, *unusual), max_text=1_000)

    told = remarks(report)
    assert list(told) == [f"line {n}" for n in range(2, 2 + len(NOT_TO_BE_GIVEN))]
    assert told["line 2"] == "a key is a dot path such as goals.q3, none of its segments empty"
    assert told["line 18"] == "at most 100 tags"
    ok = (await space.sessions(["ok"]))["ok"]
    assert (ok.tags, ok.skills, ok.metadata) == (("t",), (), [1])
    assert [one.name for one in await space.skills()] == ["trimmed"]
    assert [one.skills for one in await space.profiles()] == [("s",)]
    assert (await space.space()).revision == 0


async def test_links_in_line_with_what_is_there(space: SpaceStore) -> None:
    """Also what the file does not say of a session's ancestors forbids a link to them, in both directions."""
    there = [session("r"), session("p", parentId="r"), session("q", parentId="p"), session("other")]
    await imported(space, dumped(HEADER, *there))
    refs = [{"toId": id, "at": 1} for id in ("r", "p", "q", "other")]
    lines = [
        session("n", parentId="p", refs=refs),
        session("m", parentId="n", refs=refs),
        session("r", refs=[{"toId": "m", "at": 1}, {"toId": "elsewhere", "at": 1}]),
        session("elsewhere", refs=[{"toId": "r", "at": 1}]),
    ]

    report = await imported(space, dumped(HEADER, *lines))

    assert report.to_dict()["skipped"]["reasons"] == {IN_LINE: 5}
    found = await space.refs(["n", "m", "r", "elsewhere"], first=10, offset=0)
    assert {id: {node.id for node in nodes} for id, nodes in found.items()} == {
        "n": {"q", "other"},
        "m": {"q", "other"},
        "r": {"elsewhere"},
        "elsewhere": {"r"},
    }


async def test_lines_of_no_session(space: SpaceStore) -> None:
    """Each is told, some at a time, also the last one, which no line feed ends."""
    strays = [message("nobody", n) for n in range(1, 1_201)]
    file = dumped(HEADER, session("a"), *strays, b"\n", message("nobody", 1_201)).rstrip(b"\n")
    scan = Scan(io.BytesIO(file), Terms(now=1, max_line=1_000, max_text=1_000))
    told: list[str] = []
    for _ in scan.steps():
        assert len(scan.remarks) <= 500
        told += [one.where for one in scan.remarks]
        scan.remarks.clear()
    assert told == [f"line {n}, session nobody" for n in (*range(3, 1_203), 1_204)]


async def test_settings_and_records(space: SpaceStore) -> None:
    """Many in one run; another name or other settings are told, another usage is the Space's own."""
    records = [{"kind": "record", "key": f"k{n}", "value": n} for n in range(120)]
    settings = {"kind": "space", "name": "S", "config": {"everyNTurns": 3}, "usage": {"llmCalls": 5}}
    first = await imported(space, dumped(HEADER, settings, *records))
    again = await imported(space, dumped(HEADER, *records, settings | {"usage": {"llmCalls": 6}}))
    renamed = await imported(space, dumped(HEADER, settings | {"name": "T"}, records[0] | {"value": "v"}))

    assert (first.beside, again.beside) == ({BesideOutcome.IMPORTED: 121}, {BesideOutcome.PRESENT: 121})
    assert (remarks(first), remarks(again)) == ({}, {})
    assert list(remarks(renamed)) == ["line 2, space", "line 3, record k0"]
    assert renamed.beside == {BesideOutcome.DIFFERENT: 2}
    assert "Nothing was added: what differs from what is there was left." in list(renamed.lines())
    assert (await space.space()).usage.llm_calls == 5


NAMES = st.sampled_from(list("abcdefgh"))


@st.composite
def files(draw: st.DrawFn) -> list[Line]:
    """Any forest, any transcripts, sharing what they like; not all of it possible."""
    lines: list[Line] = []
    for id in sorted(draw(st.sets(NAMES, min_size=1))):
        maybe = draw(st.none() | NAMES)
        fields: Line = {
            "parentId": maybe,
            "index": draw(st.integers(-1, 5)),
            "sourceSessionId": draw(st.none() | NAMES),
            "refs": [
                {"toId": draw(NAMES), "at": draw(st.integers(0, 3))} for _ in range(draw(st.integers(0, 2)))
            ],
            "memory": draw(st.none() | st.text(max_size=5)),
            "metadata": draw(st.dictionaries(st.text(max_size=3), st.none() | st.integers(), max_size=2)),
            "createdAt": draw(st.integers(1, 9)),
            "status": draw(st.sampled_from(["ACTIVE", "ARCHIVED"])),
        }
        lines.append(session(id, **fields))
        for seq in sorted(draw(st.sets(st.integers(1, 6)))):
            home = draw(st.none() | NAMES)
            if home is None:
                lines.append(message(id, seq, id=draw(NAMES), content=draw(st.text(max_size=4))))
            else:
                lines.append(shared(id, seq, draw(NAMES), home))
        for number, name in enumerate(draw(st.sets(NAMES, max_size=2))):
            turn = {"id": name, "number": number, "startedAt": 1}
            status = draw(st.sampled_from(["COMPLETED", "CANCELLED", "RUNNING"]))
            lines.append({"kind": "turn", "session": id, "status": status, **turn})
    return lines


def said(lines: list[Line], id: str) -> list[str]:
    """What the transcript of a session says: what is shared is the first of its id at its home."""
    in_full: dict[tuple[str, str], str] = {}
    transcript = sorted((line for line in lines if line["kind"] == "message"), key=lambda line: line["seq"])
    for line in transcript:
        if "content" in line:
            in_full.setdefault((line["session"], line["id"]), line["content"])
    found = [
        line["content"] if "content" in line else in_full.get((line["sharedWith"], line["id"]))
        for line in transcript
        if line["session"] == id
    ]
    return [text.replace("\0", "\ufffd") for text in found if text is not None]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Callable[[Callable[..., Awaitable[T]]], T]:
    """Runs something with two empty Spaces of one store."""
    path = tmp_path_factory.mktemp("jsonl") / "stello.db"

    def run(work: Callable[..., Awaitable[T]]) -> T:
        async def with_spaces() -> T:
            store = GraphStore(SqliteEngine(path, readers=1))
            try:
                await store.migrate()
                ids = [new_id(), new_id()]
                for id in ids:
                    await store.ensure_space(id, default_name(id))
                return await work(*map(store.in_space, ids))
            finally:
                await store.aclose()

        return asyncio.run(with_spaces())

    return run


@pytest.mark.covers("TC08")
@settings(max_examples=40)
@given(lines=files(), seed=st.randoms(use_true_random=False))
def test_any_forest(run: Any, lines: list[Line], seed: random.Random) -> None:
    """Each line is stored or told of, in whatever order they come; and then it goes round as it is."""
    kinds = Counter(line["kind"] for line in lines)
    shuffled = list(lines)
    seed.shuffle(shuffled)

    async def there_and_back(first: SpaceStore, second: SpaceStore) -> None:
        report = await imported(first, dumped(HEADER, *shuffled))
        file = await exported(first)
        found = Counter(json.loads(line).get("kind") for line in file.splitlines())
        assert found["session"] == report.sessions[SessionOutcome.IMPORTED] == kinds["session"]
        assert found["turn"] == kinds["turn"]
        homeless = report.to_dict()["skipped"]["reasons"].get(NO_HOME, 0)
        assert found["message"] + homeless == kinds["message"]
        ids = [line["id"] for line in lines if line["kind"] == "session"]
        assert await texts(first, *ids) == {id: said(lines, id) for id in ids}

        again = await imported(second, file)
        assert remarks(again) == {}
        assert await exported(second) == file

    run(there_and_back)


async def test_many_sessions_in_any_order(space: SpaceStore) -> None:
    """Children before parents, in a chain and in a row: the work grows as the number does."""
    chain = [session(f"c{n:04}", parentId=f"c{n - 1:04}" if n else None) for n in range(300)]
    row = [session(f"r{n:04}", parentId="c0007", index=n) for n in range(2_000)]
    report = await imported(space, dumped(HEADER, *reversed(chain + row)))

    assert report.sessions[SessionOutcome.IMPORTED] == 2_300
    assert remarks(report) == {}
    children = (await space.children(["c0007"], after=-1, first=3_000))["c0007"]
    assert children is not None
    assert [node.id for node in children if node.id != "c0008"] == [line["id"] for line in row]
