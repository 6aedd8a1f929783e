"""The own format: values at the edge of what can be stored, and what points at places that moved."""

import json
from typing import Any

import pytest

from stello_graph.errors import InvalidInput
from stello_graph.model.checks import MAX_JSON_DEPTH, check_json
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


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels - 1):
        value = [value]
    return value


def turn(session: str, number: int, first: int, last: int, **fields: Any) -> Line:
    named = {"session": session, "id": f"{session}.{number}", "number": number}
    given = {"firstSeq": first, "lastSeq": last, "status": "COMPLETED", "stopReason": "END_TURN"}
    return {"kind": "turn", **named, **given, **fields}


async def told(space: SpaceStore, kind: str) -> dict[str, Line]:
    lines = [json.loads(line) for line in (await exported(space)).splitlines()]
    return {line["id"]: line for line in lines if line.get("kind") == kind}


def group(session: str, seq: int, levels: int) -> list[Line]:
    """A call whose arguments have so many levels, and its result."""
    call = {"id": f"c{seq}", "name": "f", "arguments": nested(levels)}
    asked = message(session, seq, role="ASSISTANT", content="", toolCalls=[call])
    result = {"role": "TOOL", "toolCallId": f"c{seq}", "toolName": "f", "parts": nested(levels)}
    return [asked, message(session, seq + 1, **result)]


async def test_as_deep_as_the_api_takes_it(space: SpaceStore) -> None:
    """Each value by itself, however deep it stands in its line; what is deeper is told."""
    deepest = nested(MAX_JSON_DEPTH)
    check_json(deepest, "value", 10_000)
    with pytest.raises(InvalidInput, match="nested"):
        check_json([deepest], "value", 10_000)
    record = {"kind": "record", "key": "k", "value": deepest}
    lines = [record, session("a", metadata=deepest), *group("a", 1, MAX_JSON_DEPTH)]
    file = dumped(HEADER, *lines, session("b", metadata=[deepest]), group("a", 3, MAX_JSON_DEPTH + 1)[0])

    report = await imported(space, file)

    assert [where.split(",")[0] for where in remarks(report)] == ["line 6", "line 7"]
    assert (await space.sessions(["a"]))["a"].metadata == deepest
    asked, result = (await told(space, "message")).values()
    assert asked["toolCalls"][0]["arguments"] == result["parts"] == deepest
    found = await space.record("k")
    assert found is not None
    assert found.value == deepest


async def test_numbers_of_64_bits(space: SpaceStore) -> None:
    """With a sign or without; what has more becomes text, character for character, and that is told."""
    fit = [2**64 - 1, -(2**63), 2**63, 0.1]
    lines = [
        session("a", metadata=fit),
        session("b", metadata=[2**64, -(2**63) - 1, 10**40]),
        message("a", 1, parts=fit),
        message("a", 2, parts=[10**30], content="a\0b"),
        {"kind": "record", "key": "k", "value": 2**64 - 1},
        {"kind": "record", "key": "l", "value": [2**64]},
    ]

    report = await imported(space, dumped(HEADER, *lines))

    assert report.to_dict()["repaired"] == {
        "count": 4,
        "reasons": {
            "integers of more than 64 bits became text": 3,
            "characters that no store takes were replaced by U+FFFD": 1,
        },
        "details": report.to_dict()["repaired"]["details"],
    }
    assert [*remarks(report)] == ["line 3, session b", "line 7, record", "line 5, session a"]
    found = await space.sessions(["a", "b"])
    assert found["a"].metadata == fit
    assert found["b"].metadata == ["18446744073709551616", "-9223372036854775809", "1" + 40 * "0"]
    parts = {id: line["parts"] for id, line in (await told(space, "message")).items()}
    assert parts == {"a-1": fit, "a-2": ["1" + 30 * "0"]}
    record = await space.record("k")
    assert record is not None
    assert record.value == 2**64 - 1


async def test_an_empty_id_is_none(space: SpaceStore) -> None:
    """Of a session, of a turn, of a message: nothing could name it."""
    nameless = [session(""), message("a", 1, id=""), turn("a", 1, 1, 1, id=""), shared("a", 2, "", "b")]
    report = await imported(space, dumped(HEADER, session("a"), *nameless))

    assert [where.split(",")[0] for where in remarks(report)] == ["line 3", "line 4", "line 5", "line 6"]
    assert (await space.space()).session_count == 1
    assert await told(space, "message") == await told(space, "turn") == {}


def damaged(id: str, **fields: Any) -> list[Line]:
    """A transcript from 4 to 12 of which 7, 8 and 12 are lost, and what points into it."""
    lost = {7: -1, 8: -1, 12: -1}
    return [
        session(
            id,
            memory="m",
            memoryThroughSeq=8,
            compression={"summary": "s", "throughSeq": 6, "tokens": 1, "createdAt": 1},
            **fields,
        ),
        *(message(id, seq, createdAt=lost.get(seq, 1)) for seq in range(4, 13)),
        turn(id, 1, 1, 3),
        turn(id, 2, 5, 7),
        turn(id, 3, 7, 8),
        turn(id, 4, 8, 9),
        turn(id, 5, 11, 12),
    ]


@pytest.mark.parametrize("deeper", ["fork", "source"])
async def test_what_points_at_places_that_moved(space: SpaceStore, deeper: str) -> None:
    """Points at the same messages as before, also from forks, whichever of the two comes first."""
    above: dict[str, Line] = {"fork": {}, "source": {}, deeper: {"parentId": "top"}}
    lines = [
        session("top"),
        *damaged("s", **above["source"]),
        *(
            session(f"f{seq}", sourceSessionId="s", sourceSeq=seq, **above["fork"])
            for seq in (3, 6, 8, 10, 12)
        ),
        session("g", sourceSessionId="elsewhere", sourceSeq=7),
    ]

    await imported(space, dumped(HEADER, *lines))

    page = await space.oldest_messages(["s"], after=0, before=100, first=100, roles=None)
    assert {one.seq: one.id for one in page["s"]} == {
        seq: f"s-{old}" for seq, old in zip(range(6, 12), (4, 5, 6, 9, 10, 11), strict=True)
    }
    found = (await space.sessions(["s"]))["s"]
    assert found.compression is not None
    assert (found.compression.through_seq, found.memory_through_seq) == (8, 8)
    turns = (await space.turns_of(["s"], before=10, first=10))["s"]
    places = [(one.first_seq, one.last_seq) for one in turns]
    assert places == [(3, 5), (7, 8), (9, 8), (9, 9), (11, 11)]
    forks = [one.source_seq for one in await space.session_copies(["f3", "f6", "f8", "f10", "f12", "g"])]
    assert forks == [5, 8, 8, 10, 12, 7]


async def test_turns_keep_their_outcome(space: SpaceStore) -> None:
    """Also where the file names places that no message has: out and in again, they stay what they were."""
    failure = {"code": "INTERNAL", "message": "broke", "retryable": True}
    lines = [
        session("a"),
        {"kind": "turn", "session": "a", "id": "bare", "number": 1, "status": "COMPLETED"},
        turn("a", 2, 5, 9, status="FAILED", stopReason="ERROR", error=failure),
        session("b"),
        message("b", 1),
        message("b", 2, createdAt=-1),
        turn("b", 1, 1, 2),
    ]
    await imported(space, dumped(HEADER, *lines))

    turns = await told(space, "turn")
    outcomes = {id: (one["status"], one.get("stopReason"), one.get("error")) for id, one in turns.items()}
    assert outcomes == {
        "bare": ("COMPLETED", None, None),
        "a.2": ("FAILED", "ERROR", failure),
        "b.1": ("COMPLETED", "END_TURN", None),
    }
    assert {id: (one["firstSeq"], one["lastSeq"]) for id, one in turns.items()} == {
        "bare": (1, 0),
        "a.2": (1, 0),
        "b.1": (1, 1),
    }


async def test_the_end_of_a_turn_at_the_moment_of_reading(space: SpaceStore) -> None:
    """A session that was read in the middle of a turn's end is read anew; a turn beyond all messages is told
    with the outcome that it has.
    """
    await imported(space, dumped(HEADER, session("a"), message("a", 1), message("a", 2), turn("a", 1, 1, 2)))
    whole = await exported(space)
    real_copies, real_turns = space.session_copies, space.turns_of
    reads = []

    async def torn(ids: Any) -> Any:
        """First as it was before the last message came."""
        reads.append(ids)
        before = {"message_count": 1, "next_seq": 2} if len(reads) == 1 else {}
        return [one.model_copy(update=before) for one in await real_copies(ids)]

    space.session_copies = torn  # type: ignore[method-assign]
    assert await exported(space) == whole
    assert len(reads) == 3

    async def beyond(*args: Any, **given: Any) -> Any:
        found = await real_turns(*args, **given)
        return {id: [one.model_copy(update={"last_seq": 7}) for one in turns] for id, turns in found.items()}

    space.turns_of = beyond  # type: ignore[method-assign]
    assert await exported(space) == whole
