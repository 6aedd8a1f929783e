"""S1: what a page or a write costs does not grow with what is stored around it."""

import contextlib
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import pytest

from stello_graph.ids import new_id
from stello_graph.model.memory import InsightDraft, IntegrationDraft
from stello_graph.model.message import MessagePage
from stello_graph.model.turn import TurnStatus
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import ImportDraft, SessionFilter
from stello_graph.ports import SpaceStore
from stello_graph.store.engine import Row
from stello_graph.store.queries import Query, load
from stello_graph.store.store import GraphStore, SpaceRepository
from tests.conformance.databases import Database
from tests.conformance.drafts import ALL, LEASE, child, create, exchange, fork_of, key, many, said, told

FEW, MANY = 120, 2_000
MESSAGES = 10_000
GROWTH = 1.3
# Of the backlog as much is read as is taken; in the end it is empty.
A_HANDFUL = {"system/applied", "search/backlog"}


class Captured(Exception):
    """A query was asked for."""


class Catcher:
    """An engine that runs nothing and remembers what it was asked."""

    query: Query
    params: Row

    async def read(self, query: Query, **params: Any) -> list[Row]:
        self.query, self.params = query, params
        raise Captured

    write = read


@dataclass(frozen=True)
class Forest:
    """A Space with one session of many messages, and a parent of many children."""

    space_id: str
    talker: str
    parent: str
    children: tuple[str, ...]

    @property
    def late(self) -> str:
        """A child with few after it."""
        return self.children[-60]


Call = Callable[[SpaceStore, Forest], Awaitable[Any]]


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


@pytest.fixture(scope="module")
def forests() -> dict[str, tuple[Forest, Forest]]:
    return {}


@pytest.fixture
async def small_and_big(
    engine: str, store: GraphStore, database: Database, forests: dict[str, tuple[Forest, Forest]]
) -> tuple[Forest, Forest]:
    """A small forest and a big one, made once for each engine."""
    if engine not in forests:
        forests[engine] = (
            await planted(store, database, FEW, FEW),
            await planted(store, database, MANY, MESSAGES),
        )
    return forests[engine]


async def cost(database: Database, forest: Forest, call: Call) -> int:
    catcher = Catcher()
    with contextlib.suppress(Captured):
        await call(SpaceRepository(catcher, forest.space_id), forest)  # type: ignore[arg-type]
    return database.cost(catcher.query, catcher.params)


READS: dict[str, Call] = {
    "newest messages": lambda space, forest: space.newest_messages(
        [forest.talker], after=0, before=ALL, first=50, roles=None
    ),
    "a session and its newest messages": lambda space, forest: space.sessions_with_newest(
        [forest.talker], MessagePage(newest=True, after=0, before=ALL, first=50, roles=None)
    ),
    "messages in the middle": lambda space, forest: space.newest_messages(
        [forest.talker], after=0, before=80, first=50, roles=None
    ),
    "oldest messages": lambda space, forest: space.oldest_messages(
        [forest.talker], after=0, before=ALL, first=50, roles=None
    ),
    "children": lambda space, forest: space.children([forest.parent], after=-1, first=50),
    "late children": lambda space, forest: space.children(
        [forest.parent], after=len(forest.children) - 60, first=50
    ),
    "siblings": lambda space, forest: space.siblings([forest.late], after=-1, first=50),
    "ancestors": lambda space, forest: space.ancestors([forest.late]),
    "a node and its ancestors": lambda space, forest: space.nodes_with_ancestors([forest.late]),
    "roots": lambda space, _: space.children([None], after=-1, first=50),
    "sessions": lambda space, _: space.list_sessions(SessionFilter(), after="", first=50),
    "late sessions": lambda space, forest: space.list_sessions(SessionFilter(), after=forest.late, first=50),
    "sessions of a tree": lambda space, forest: space.list_sessions(
        SessionFilter(root_id=forest.parent), after="", first=50
    ),
    "late sessions of a tree": lambda space, forest: space.list_sessions(
        SessionFilter(root_id=forest.parent), after=forest.late, first=50
    ),
    "digests": lambda space, _: space.digests(SessionFilter(), changed_after=0, after="", first=50),
    "late digests": lambda space, forest: space.digests(
        SessionFilter(), changed_after=0, after=forest.late, first=50
    ),
    "late digests of a tree": lambda space, forest: space.digests(
        SessionFilter(root_id=forest.parent), changed_after=0, after=forest.late, first=50
    ),
    "what integrating reads": lambda space, forest: space.to_integrate(forest.parent, 50),
    "what consolidating reads": lambda space, forest: space.undigested(forest.talker, 50),
    "map of the roots": lambda space, _: space.star_map(
        None, max_depth=0, max_nodes=50, include_archived=True
    ),
    "map of a talker": lambda space, forest: space.star_map(
        forest.talker, max_depth=None, max_nodes=50, include_archived=False
    ),
    "source of a fork": lambda space, forest: space.fork_source(forest.talker, 50),
    "turns by status": lambda space, _: space.turns_by_status(TurnStatus.COMPLETED, first=50),
    "the turn of a key": lambda space, _: space.turn_of_key(key()),
    "turns": lambda space, forest: space.turns_of([forest.talker], before=ALL, first=10),
    "records": lambda space, _: space.records("", after="", first=50),
    "late records": lambda space, _: space.records("record.", after="record.000060", first=50),
}

WRITES: dict[str, Call] = {
    "beginning a turn": lambda space, forest: space.begin_turn(
        forest.parent, new_id(), said(), lease=LEASE, idempotency=None
    ),
    "appending": lambda space, forest: space.append(forest.talker, many(2)),
    "creating a child": lambda space, forest: space.create_session(child(forest.parent), None),
    "forking without context": lambda space, forest: space.fork(fork_of(forest.parent, opening=told()), None),
    "forking with context": lambda space, forest: space.fork(fork_of(forest.talker, through_seq=50), None),
    "linking": lambda space, forest: space.add_ref(forest.talker, forest.parent),
    "memory": lambda space, forest: space.put_memory(forest.parent, "m"),
    "a record": lambda space, _: space.put_record("record.000060", 1, None),
    "a new record": lambda space, _: space.put_record("new", 1, 0),
    "insights": lambda space, forest: space.put_insights(
        [InsightDraft(session_id=id, content="i") for id in forest.children[:5]]
    ),
    "a synthesis": lambda space, forest: space.store_integration(
        forest.parent,
        IntegrationDraft(
            synthesis="s",
            insights=tuple(InsightDraft(session_id=id, content="i") for id in forest.children[:5]),
            through_seq=1,
            revision=0,
        ),
    ),
    "leaving": lambda space, forest: space.leave(forest.parent, "tab"),
    "archiving": lambda space, forest: space.set_status(forest.late, SessionStatus.ARCHIVED),
    "deleting a child": lambda space, forest: space.delete_session(forest.late, 1, 10),
}


@pytest.mark.covers("W35")
@pytest.mark.parametrize("what", READS)
async def test_pages(small_and_big: tuple[Forest, Forest], database: Database, what: str) -> None:
    """A page of a big forest costs what one of a small forest costs."""
    small, big = [await cost(database, forest, READS[what]) for forest in small_and_big]

    assert big <= small * GROWTH + 5


@pytest.mark.parametrize("what", WRITES)
async def test_writes(small_and_big: tuple[Forest, Forest], database: Database, what: str) -> None:
    """A write to a big forest costs what one to a small forest costs."""
    small, big = [await cost(database, forest, WRITES[what]) for forest in small_and_big]

    assert big <= small * GROWTH + 5


@pytest.mark.covers("W35")
@pytest.mark.usefixtures("small_and_big")
async def test_no_walk_through_all(database: Database) -> None:
    """No read walks through all nodes, edges or rows of a kind."""
    reads = [text.query for text in load("sql").values() if text.query.access == "read"]
    walks = {
        query.name: steps for query in reads if (steps := database.scans(query, dict.fromkeys(query.params)))
    }

    assert walks.keys() <= A_HANDFUL, walks
