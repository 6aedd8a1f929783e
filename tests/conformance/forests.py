"""Forests of which one is big and one is not, and what the store asks of a database for a call."""

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

from stello_graph.ids import new_id
from stello_graph.model.writes import ImportDraft
from stello_graph.ports import SpaceStore
from stello_graph.store.engine import Row
from stello_graph.store.queries import Query
from stello_graph.store.reading import Reading
from stello_graph.store.store import GraphStore, SpaceRepository
from tests.conformance.databases import Database
from tests.conformance.drafts import create, exchange, many

FEW, MANY = 120, 2_000
MESSAGES = 10_000


@dataclass(frozen=True)
class Forest:
    """A Space with one session of many messages and turns, and a parent of many children."""

    space_id: str
    talker: str
    parent: str
    children: tuple[str, ...]

    @property
    def late(self) -> str:
        """A child with few after it."""
        return self.children[-60]


Call = Callable[[SpaceStore, Forest], Awaitable[Any]]


class Captured(Exception):
    """A query was asked for."""


class Catcher:
    """An engine that runs nothing and remembers what it was asked."""

    query: Query
    params: Row

    async def read(self, query: Query, counted: Reading | None = None, /, **params: Any) -> list[Row]:
        self.query, self.params = query, params
        raise Captured

    write = read


async def asked(forest: Forest, call: Call) -> tuple[Query, Row]:
    """The first query of a call to the store of a forest's Space, with its parameters."""
    catcher = Catcher()
    with contextlib.suppress(Captured):
        await call(SpaceRepository(catcher, forest.space_id), forest)  # type: ignore[arg-type]
    return catcher.query, catcher.params


async def planted(store: GraphStore, database: Database, children: int, messages: int) -> Forest:
    space_id = f"cost-{new_id()}"
    await store.ensure_space(space_id, "Cost")
    space = store.in_space(space_id)
    talker = new_id()
    await space.import_session(
        ImportDraft(id=talker, label="Talker", turn_count=0, messages=tuple(many(messages)))
    )
    turn = await exchange(space, talker)
    database.plant_turns(space_id, turn.id, messages)
    parent = (await create(space, "Parent")).id
    await space.put_memory(parent, "memory, and that of all children")
    ids = tuple(f"child-{place:06}" for place in range(children))
    database.plant(space_id, parent, ids)
    return Forest(space_id, talker, parent, ids)
