"""Connections that break in the middle of statements, commits included."""

import asyncio
from typing import Final

import pytest

from stello_graph.ids import new_id
from stello_graph.model.writes import Idempotency
from stello_graph.ports import SpaceStore
from stello_graph.store.neo4j import Neo4jEngine
from stello_graph.store.store import GraphStore
from tests.conformance.cutting import wire_to
from tests.conformance.databases import Database
from tests.conformance.drafts import child, create, exchange, fork_of, many, transcript

pytestmark = pytest.mark.parametrize("engine", ["neo4j", "neo4j-calendar"], indirect=True)

WRITERS: Final = 8
ROUNDS: Final = 5


async def test_what_is_done_is_done_once(space: SpaceStore, database: Database) -> None:
    """Whoever writes is answered in the end, and each write was done once, though its answer was lost."""
    top = await create(space)
    async with wire_to(database.url) as wire:
        engine = Neo4jEngine(
            wire.url,
            user=database.credentials.get("STELLO_NEO4J_USER"),
            password=database.credentials.get("STELLO_NEO4J_PASSWORD"),
            pool_size=WRITERS,
            retry_seconds=300.0,
        )
        store = GraphStore(engine).in_space(space.space_id)
        try:
            await asyncio.gather(*(write(store, top.id) for _ in range(WRITERS)))
            await asyncio.gather(*(transcript(store, top.id) for _ in range(3 * WRITERS)))
        finally:
            await engine.aclose()

    assert wire.cuts >= 5
    children = (await space.children([top.id], after=-1, first=1_000))[top.id]
    assert children is not None
    assert len(children) == WRITERS * ROUNDS
    sessions = await space.sessions([node.id for node in children])
    assert {one.message_count for one in sessions.values()} == {6}
    assert {one.turn_count for one in sessions.values()} == {1}
    for node in children:
        copies = (await space.children([node.id], after=-1, first=10))[node.id]
        assert copies is not None
        assert len(copies) == 1
        assert await transcript(space, copies[0].id) == await transcript(space, node.id)


async def write(store: SpaceStore, parent: str) -> None:
    """Children, each with messages, a turn, and a copy."""
    for _ in range(ROUNDS):
        made = await store.create_session(child(parent), Idempotency(key=new_id(), input_hash="same"))
        await store.append(made.id, many(4))
        await exchange(store, made.id)
        await store.fork(fork_of(made.id, through_seq=6), None)
