"""Frames of all kinds, in any order."""

import asyncio
import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from tests.fuzz.test_schema import some
from tests.fuzz.values import HOSTILE, Raw, body_of
from tests.fuzz.world import World
from tests.unit.http.calls import PATIENCE
from tests.unit.http.sockets import Socket, socket

ME = "{ me { scope } }"
IDS = st.sampled_from(["1", "1", "2", "", "\x00", "x" * 100_000, "漢🎉", Raw('"\\ud800"'), 5, None, ["1"]])
DOCUMENTS = st.sampled_from(
    [
        ME,
        "{",
        "{ nothing }",
        "query A { me { scope } } query B { me { scope } }",
        'subscription { turnEvents(turnId: "a turn") { seq __typename } }',
        'subscription { turnEvents(turnId: "nobody") { seq } }',
        "subscription { topologyEvents(after: 0) { seq type } }",
        "subscription { topologyEvents { seq type } }",
        "subscription ($a: Long) { topologyEvents(after: $a) { seq } }",
        'mutation { enterSession(id: "s1", holder: "tab") { id } }',
        "{ ... @defer { me { scope } } }",
    ]
)
SUBSCRIBE = st.fixed_dictionaries(
    {
        "type": st.just("subscribe"),
        "id": IDS,
        "payload": HOSTILE
        | st.fixed_dictionaries(
            {"query": DOCUMENTS},
            optional={
                "variables": st.dictionaries(st.just("a"), HOSTILE) | HOSTILE,
                "operationName": st.sampled_from(["A", "nobody", None]) | HOSTILE,
                "extensions": HOSTILE,
            },
        ),
    }
)
LEGAL = st.fixed_dictionaries(
    {
        "type": st.just("subscribe"),
        "id": st.sampled_from(["1", "2", "3", "\x00", "x" * 100_000]),
        "payload": st.fixed_dictionaries({"query": DOCUMENTS}),
    }
)
COMPLETE = st.fixed_dictionaries({"type": st.just("complete"), "id": st.sampled_from(["1", "2", "nobody"])})
OTHERS = st.one_of(
    st.sampled_from([{"type": "ping"}, {"type": "pong"}, {"type": "ping", "payload": {"a": 1}}]),
    st.fixed_dictionaries({"type": st.just("ping"), "payload": HOSTILE}),
    st.fixed_dictionaries({"type": HOSTILE}),
    st.fixed_dictionaries(
        {"type": st.sampled_from(["start", "stop", "connection_terminate", "next", "error"])}
    ),
    st.fixed_dictionaries({"type": st.just("connection_init")}, optional={"payload": HOSTILE}),
    st.fixed_dictionaries({"type": st.just("complete"), "id": IDS}),
    HOSTILE,
    st.binary(max_size=20),
    st.sampled_from(
        ["", "{", "[]", "null", '{"type": "ping"', "\x00", "[" * 5_000, '{"type": "ping", "type": "x"}']
    ),
)


def frame_of(world: World, frame: Any) -> Any:
    """As it is sent."""
    if isinstance(frame, str | bytes) and not isinstance(frame, Raw):
        return frame
    return body_of(frame).decode().replace("a turn", world.turn_id)


async def settled(client: Socket) -> None:
    """Until a last question is answered, or the socket is closed."""
    client.send({"type": "subscribe", "id": "the last", "payload": {"query": ME}})
    await client.over("the last")


@some(80)
@given(st.lists(LEGAL | COMPLETE | st.just({"type": "ping"}), max_size=8))
def test_legal_messages_in_any_order(world: World, frames: list[Any]) -> None:
    """Only ids that are taken close the socket; all else is answered, and the next question as well."""

    async def asked() -> None:
        await world.fill()
        async with socket(world.app) as client:
            for frame in frames:
                client.send(frame_of(world, frame))
            await settled(client)
            world.check_socket(client)
            assert client.closed is None or client.closed[0] == 4409

    world.runner.run(asked())


@some(150)
@given(
    st.booleans(),
    st.lists(SUBSCRIBE | COMPLETE | OTHERS | LEGAL, min_size=1, max_size=5),
)
def test_frames_of_all_kinds(world: World, hello: bool, frames: list[Any]) -> None:
    """A code of the protocol closes the socket, or an error with a code is told."""

    async def asked() -> None:
        async with socket(world.app, {} if hello else None) as client:
            for frame in frames:
                client.send(frame_of(world, frame))
            await settled(client)
            world.check_socket(client)

    world.runner.run(asked())


@some(40)
@given(HOSTILE | st.dictionaries(st.sampled_from(["Authorization", "authorization", ""]), HOSTILE))
def test_hellos_of_all_kinds(world: World, payload: Any) -> None:
    """A payload is an object or nothing."""

    async def asked() -> None:
        async with socket(world.app, None) as client:
            client.send(frame_of(world, {"type": "connection_init", "payload": payload}))
            await settled(client)
            world.check_socket(client)

    world.runner.run(asked())


def test_protocols_that_are_not_spoken(world: World) -> None:
    """4406."""

    async def asked() -> None:
        for protocol in ("graphql-ws", "", "x" * 1_000):
            async with socket(world.app, None, protocol) as client:
                async with asyncio.timeout(PATIENCE):
                    while client.closed is None:
                        client.changed.clear()
                        await client.changed.wait()
                assert client.closed[0] == 4406
            world.check_socket(client)

    world.runner.run(asked())


def test_messages_are_json(world: World) -> None:
    """What is told is text that any client can read, also where an id holds what is hard to write."""

    async def asked() -> None:
        async with socket(world.app) as client:
            for id in ("\x00", "\u2028", "🎉", "x" * 100_000):
                client.subscribe(id, ME)
                await client.over(id)
        assert json.loads(json.dumps(client.told)) == client.told
        world.check_socket(client)

    world.runner.run(asked())
