"""Files that are no exports, and exports that were damaged, sent to `POST /import`."""

import json

from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.test_bodies import TYPES
from tests.fuzz.test_schema import some
from tests.fuzz.values import HOSTILE, body_of
from tests.fuzz.world import JSON, World
from tests.unit.http.calls import Answer
from tests.unit.interchange.archives import zipped
from tests.unit.interchange.exports import call, conversation, output, reply, user

EXPORT = json.dumps(
    [
        conversation(
            (None, user("a")),
            ("a", call("b")),
            ("b", output("c")),
            ("c", reply("d")),
            ("a", reply("e")),
            id=id,
        )
        for id in ("x", "y")
    ]
).encode()


def check(world: World, answer: Answer) -> None:
    """A refusal as all are, or lines of which the last tells how it ended, which is no fault of ours."""
    if answer.status != 200:
        world.check(answer)
        return
    *before, last = answer.lines
    assert all(set(line) == {"progress"} for line in before)
    assert set(last) == {"report"}, last
    world.seen([])


ARCHIVE = zipped({"conversations-000.json": EXPORT, "chat.html": b"<html>"})


@some(120)
@given(
    st.sampled_from([EXPORT, ARCHIVE]),
    st.lists(st.tuples(st.integers(0, len(EXPORT) - 1), st.binary(max_size=3)), min_size=1, max_size=6),
    st.integers(0, 40),
)
def test_exports_that_were_damaged(
    world: World, whole: bytes, changes: list[tuple[int, bytes]], missing: int
) -> None:
    """Some bytes are others, the end may be missing: what is whole is imported, the rest is told."""
    file = bytearray(whole)
    for place, changed in changes:
        file[place : place + 1] = changed
    check(world, world.runner.run(world.call(bytes(file[: len(file) - missing]), path="/import")))
    world.check_store()


@some(120)
@given(
    st.lists(
        st.fixed_dictionaries(
            {"mapping": HOSTILE | st.dictionaries(st.sampled_from(["a", "b", ""]), HOSTILE, max_size=3)},
            optional=dict.fromkeys(
                ("id", "conversation_id", "title", "current_node", "create_time"), HOSTILE
            ),
        )
        | HOSTILE,
        max_size=3,
    )
)
def test_exports_of_wrong_things(world: World, file: list[object]) -> None:
    """Each part of an export is anything."""
    check(world, world.runner.run(world.call(body_of(file), path="/import", query=b"format=chatgpt")))
    world.check_store()


@some(80)
@given(
    st.sampled_from(["POST", "POST", "GET", "PUT", "OPTIONS", "HEAD", "X"]),
    TYPES,
    st.sampled_from([b"", b"gzip", b"identity", b"\xff"]),
    st.sampled_from([b"", b"5", b"-1", b"1e9", b"\xff", b"9" * 5_000]),
    st.sampled_from([b"", b"format=auto", b"format=x", b"format=%ff", b"format=chatgpt&format=", b"&=&"]),
)
def test_requests_of_every_form(
    world: World, method: str, kind: bytes, encoding: bytes, length: bytes, query: bytes
) -> None:
    """Methods, types, encodings and lengths: lines, or JSON with a code."""
    headers = (JSON[0], (b"content-type", kind), (b"content-encoding", encoding), (b"content-length", length))
    answer = world.call(EXPORT, headers, path="/import", method=method, query=query)
    check(world, world.runner.run(answer))
