"""How a database finds what a query asks for: by an index, in its order, and no more of it than is taken."""

from typing import Final

import pytest

from stello_graph.model.message import MessagePage
from stello_graph.model.turn import TurnStatus
from stello_graph.model.writes import SessionFilter
from stello_graph.store.queries import Language, Query, QueryText, load
from tests.conformance.databases import Database
from tests.conformance.drafts import ALL
from tests.conformance.forests import Call, Forest, asked
from tests.conformance.plans import Neo4jPlans
from tests.engines import SERVERS

PAGE: Final = 50

# What is read whole, and why that is right.
WHOLE: Final = {
    "system/applied": "migrations are a handful",
    "search/backlog": "as much is read as is taken, and in the end it is empty",
}
# What is put in order after it was found, and why that is right.
SORTED: Final = {
    "exports/sessions": "what one session refers to is whole",
    "topology/refs": "what one session refers to is found by its session",
    "topology/referenced_by": "what refers to one session is found by its session",
    "topology/ancestors": "a path is found from below and told from the root on",
    "topology/with_ancestors": "as ancestors",
    "topology/star_map": "refs come in the order of insertion for each node, and all of them",
    "topology/star_map_below": "the levels of a subtree are no range of an index",
    "search/find": "the best come first, of as many candidates as are asked for",
    "memory/digests": "SQLite finds fewer than 1,000 changes by their number",
    "sessions/delete": "a whole subtree is locked in the order of its keys",
}
NEWEST: Final[dict[str, Call]] = {
    "messages": lambda space, forest: space.newest_messages(
        [forest.talker], after=0, before=ALL, first=PAGE, roles=None
    ),
    "messages with their session": lambda space, forest: space.sessions_with_newest(
        [forest.talker], MessagePage(newest=True, after=0, before=ALL, first=PAGE, roles=None)
    ),
    "turns": lambda space, forest: space.turns_of([forest.talker], before=ALL, first=PAGE),
    "turns of a status": lambda space, _: space.turns_by_status(TurnStatus.COMPLETED, first=PAGE),
    "digests of a tree": lambda space, forest: space.digests(
        SessionFilter(root_id=forest.parent), changed_after=0, after="", first=PAGE
    ),
    "what consolidating reads": lambda space, forest: space.undigested(forest.talker, PAGE),
}


# What no query may do, by how it is noticed.
BAD: Final[dict[Language, dict[str, str]]] = {
    "cypher": {
        "walks all": "MATCH (s:Session) WHERE s.label = $key RETURN collect(s.id) AS rows",
        "walks an index": "MATCH (s:Session) WHERE s.key CONTAINS $key RETURN collect(s.id) AS rows",
        "walks one for each other": "MATCH (s:Session) WHERE s.key > $key MATCH (t:Turn) WHERE t.key > $key "
        "RETURN collect([s.id, t.id]) AS rows",
        "sorts": "MATCH (s:Session) WHERE s.key > $key WITH s ORDER BY s.label LIMIT 50 "
        "RETURN collect(s.id) AS rows",
    },
    "sql": {
        "walks all": "SELECT id FROM session WHERE label = :key",
        "walks an index": "SELECT count(*) AS id FROM turn",
        "walks one for each other": "SELECT s.id FROM session AS s, turn AS t "
        "WHERE s.key > :key AND t.id = s.id",
        "sorts": "SELECT id FROM session WHERE key > :key ORDER BY label LIMIT 50",
    },
}


def query_text(name: str, statement: str) -> QueryText:
    return QueryText(Query(name, "read", frozenset({"key"}), ("id",)), (statement,), frozenset())


@pytest.mark.covers("W35")
@pytest.mark.usefixtures("small_and_big")
async def test_all_is_found_by_an_index(database: Database) -> None:
    """No query walks through all of a kind, or through one for each of another, whatever it is given."""
    texts = load(database.plans.language)
    walks = {name: steps for name, text in texts.items() if (steps := database.plans.walks(text))}

    assert walks.keys() <= WHOLE.keys(), walks


@pytest.mark.covers("W35", "W38")
@pytest.mark.usefixtures("small_and_big")
async def test_pages_are_in_the_order_of_an_index(database: Database) -> None:
    """Nothing is put in order before it is cut to a page: it is read in order."""
    texts = load(database.plans.language)
    sorts = {name: steps for name, text in texts.items() if (steps := database.plans.sorts(text))}

    assert sorts.keys() <= SORTED.keys(), sorts


@pytest.mark.usefixtures("small_and_big")
async def test_a_bad_plan_is_noticed(database: Database) -> None:
    """What the laws above ask for is seen where it is missing."""
    plans = database.plans
    for name, statement in BAD[plans.language].items():
        text = query_text(name, statement)
        assert (plans.walks(text) != [], plans.sorts(text) != []) == (name != "sorts", name == "sorts"), name


@pytest.mark.parametrize("engine", SERVERS, indirect=True)
@pytest.mark.parametrize("what", NEWEST)
async def test_no_more_is_read_than_taken(
    small_and_big: tuple[Forest, Forest], database: Database, what: str
) -> None:
    """The newest of 10,000 are a page of index entries, and one more; on SQLite their cost says so."""
    assert isinstance(database.plans, Neo4jPlans)
    read = database.plans.most_sought(*await asked(small_and_big[1], NEWEST[what]))

    assert PAGE <= read <= PAGE + 1
