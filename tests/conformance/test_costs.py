"""S1: what a page or a write costs does not grow with what is stored around it."""

from collections.abc import Callable

import pytest

from stello_graph.ids import new_id
from stello_graph.model.memory import InsightDraft, IntegrationDraft
from stello_graph.model.message import MessagePage
from stello_graph.model.turn import TurnStatus
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import ImportDraft, SessionFilter
from tests.conformance.databases import Database
from tests.conformance.drafts import ALL, LEASE, child, fork_of, key, many, placed, said, told
from tests.conformance.forests import Call, Forest, asked

GROWTH = 1.3
# How many a write is given.
SHORT, LONG = 40, 400


def insights(forest: Forest, count: int) -> tuple[InsightDraft, ...]:
    return tuple(InsightDraft(session_id=id, content="i") for id in forest.children[:count])


def synthesis(insights: tuple[InsightDraft, ...]) -> IntegrationDraft:
    return IntegrationDraft(synthesis="s", insights=insights, through_seq=1, revision=0)


async def cost(database: Database, forest: Forest, call: Call) -> int:
    return database.plans.cost(*await asked(forest, call))


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
    "insights": lambda space, forest: space.put_insights(insights(forest, 5)),
    "a synthesis": lambda space, forest: space.store_integration(
        forest.parent, synthesis(insights(forest, 5))
    ),
    "leaving": lambda space, forest: space.leave(forest.parent, "tab"),
    "archiving": lambda space, forest: space.set_status(forest.late, SessionStatus.ARCHIVED),
    "deleting a child": lambda space, forest: space.delete_session(forest.late, 1, 10),
}

GIVEN: dict[str, Callable[[int], Call]] = {
    "appending": lambda count: lambda space, forest: space.append(forest.talker, many(count)),
    "insights": lambda count: lambda space, forest: space.put_insights(insights(forest, count)),
    "a synthesis": lambda count: (
        lambda space, forest: space.store_integration(forest.parent, synthesis(insights(forest, count)))
    ),
    "importing messages": lambda count: (
        lambda space, _: space.import_session(
            ImportDraft(id=new_id(), label="Imported", turn_count=0, messages=tuple(many(count)))
        )
    ),
    "importing sessions": lambda count: (
        lambda space, _: space.import_sessions([placed(new_id()) for _ in range(count)])
    ),
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


@pytest.mark.parametrize("what", GIVEN)
async def test_what_is_given(small_and_big: tuple[Forest, Forest], database: Database, what: str) -> None:
    """A write of ten times as much costs that much: no list is walked for each entry of another."""
    short, long = [await cost(database, small_and_big[1], GIVEN[what](count)) for count in (SHORT, LONG)]

    assert long <= short * GROWTH * LONG / SHORT + 5
