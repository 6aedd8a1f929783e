"""The query files: the same for both engines, locked before they decide, and nowhere but in files."""

import ast
import re
from itertools import pairwise
from pathlib import Path
from typing import Final

import pytest

import stello_graph
from stello_graph.store import (
    copies,
    engine,
    events,
    imports,
    keys,
    knowledge,
    memory,
    messages,
    profiles,
    search,
    sessions,
    spaces,
    store,
    tasks,
    topology,
    turns,
)
from stello_graph.store.migrations import schema_script
from stello_graph.store.queries import Query, QueryText, load, named

CYPHER: Final = load("cypher")
SQL: Final = load("sql")
NAMES: Final = sorted(CYPHER.keys() | SQL.keys())
WRITES: Final = [name for name in NAMES if CYPHER[name].query.access == "write"]
READS: Final = [name for name in NAMES if CYPHER[name].query.access == "read"]
REPOSITORIES: Final = (
    copies,
    engine,
    events,
    imports,
    keys,
    knowledge,
    memory,
    messages,
    profiles,
    search,
    sessions,
    spaces,
    store,
    tasks,
    topology,
    turns,
)

# Delete-lock, Session, what belongs to a Session, TopologyNode, Task, Space.
ORDER: Final = ("DeleteLock", "Session", "Turn", "Holder", "TopologyNode", "Task", "Space")
# Nodes that are matched anew once they are locked, that nobody else can delete, or whose status is asked for.
LOOKED_UP_AGAIN: Final = {"topology/add_ref", "topology/remove_ref", "sessions/delete", "turns/renew"}
# Lists that are JSON texts in SQL, in rows that are declared as `turn.*` or `session.*`.
LISTS: Final = {"tags", "confirmIds", "approvedIds", "refusedIds", "refusals"}
TRIGGERS: Final = {
    "sessions/enter": "ON_SWITCH",
    "sessions/leave": "ON_LEAVE",
    "sessions/set_status": "ON_ARCHIVE",
    "turns/end": "EVERY_N_TURNS",
    "memory/store_digest": "AFTER_CONSOLIDATE",
}
# What is taken in any order until nothing is left.
ANY_ORDER: Final = {"search/backlog"}
STRINGS: Final = re.compile(r"'[^']*'")
LOCK: Final = re.compile(r"SET (\w+)\.lock = ")
PROPERTY: Final = re.compile(r"(?<![$\w.])[a-z]\w*\.\w+")
BOUND: Final = re.compile(r"\((\w+):(\w+) ")
LANGUAGE: Final = re.compile(
    r"\b(?:MATCH \(|MERGE \(|DETACH DELETE|UNWIND \$|INSERT INTO|SELECT .+ FROM|DELETE FROM|UPDATE \w+ SET|"
    r"PRAGMA |BEGIN IMMEDIATE|CREATE (?:TABLE|INDEX|CONSTRAINT))"
)
EVENT: Final = "TopologyEvent {key: $eventKey, spaceId"
TRANSACTIONS: Final = {"store/sqlite.py": {"BEGIN IMMEDIATE"}}


def cypher(name: str) -> str:
    return STRINGS.sub("''", CYPHER[name].statements[0])


@pytest.mark.parametrize("name", NAMES)
def test_both_engines_have_it(name: str) -> None:
    """A query exists for both engines with the same access, parameters and rows."""
    assert named(name) == CYPHER[name].query == SQL[name].query


def test_every_query_is_used() -> None:
    """No query file lies unused, and none is used under two names."""
    used = [
        value.name for module in REPOSITORIES for value in vars(module).values() if isinstance(value, Query)
    ]

    assert sorted(set(used)) == NAMES


@pytest.mark.parametrize("name", NAMES)
def test_one_record(name: str) -> None:
    """A Cypher query is one statement that brings one record with all rows."""
    text = cypher(name)

    assert len(CYPHER[name].statements) == 1
    assert re.search(
        r"\nRETURN (?:collect\(|\[\{)[\s\S]*\) AS rows$|\nRETURN \[\{[^\n]*\}\] AS rows(?: LIMIT 1)?$", text
    )


@pytest.mark.parametrize("name", WRITES)
def test_locked_before_it_is_read(name: str) -> None:
    """What a write decides on is locked by a SET in a clause of its own before any property is read."""
    text = cypher(name)
    lock = LOCK.search(text)
    if lock is None:
        decides = re.search(r"\bCASE\b|\bWHERE\b|\bEXISTS\b", text)
        assert decides is None, "decides without a lock"
        return
    head = text[: lock.start()]
    assert PROPERTY.findall(head) == []
    assert re.search(r"\bCASE WHEN (?!\$fromKey < \$toKey)|\bWHERE\b", head) is None


@pytest.mark.parametrize("name", sorted(set(WRITES) - LOOKED_UP_AGAIN))
def test_looked_at_again_when_locked(name: str) -> None:
    """What is locked is looked at again: a SET on a node that was deleted meanwhile is silently ignored."""
    text = cypher(name)
    labels = dict(BOUND.findall(text))
    for lock in LOCK.finditer(text):
        if labels[lock[1]] in ("Session", "TopologyNode", "Turn"):
            assert re.search(rf"\b{lock[1]}\.lock IS (?:NOT )?NULL", text[lock.end() :]), lock[1]


@pytest.mark.parametrize("name", [name for name in WRITES if "sp.eventSeq = " in cypher(name)])
def test_a_write_of_events_says_where_it_began(name: str) -> None:
    """A snapshot of the map beside it is sure of what came before it, and of no more."""
    text = cypher(name)
    assert 0 < text.find("sp.settledSeq = ") < text.index("sp.eventSeq = ")


@pytest.mark.parametrize("name", WRITES)
def test_locked_in_order(name: str) -> None:
    """Locks are taken in one order by all: delete-lock, Session, TopologyNode, and the Space last."""
    text = cypher(name)
    labels = dict(BOUND.findall(text))
    taken = [labels[variable] for variable in LOCK.findall(text) if labels[variable] in ORDER]

    if name == "sessions/delete":
        taken.remove("Holder")
    assert all(ORDER.index(first) <= ORDER.index(second) for first, second in pairwise(taken)), taken


@pytest.mark.parametrize("name", [name for name in WRITES if EVENT in CYPHER[name].statements[0]])
def test_events_are_numbered_under_the_lock(name: str) -> None:
    """An event takes its number after the Space was locked, and nothing is looked up after that."""
    before, after = cypher(name).split("SET sp.lock = $op")

    assert EVENT not in before
    assert EVENT in after
    assert re.findall(r"\n  (?:MATCH|MERGE).*", after[: after.index("\n}")]) == []


@pytest.mark.parametrize("name", [name for name in WRITES if "CREATE (:TopologyEvent" in cypher(name)])
def test_events_know_their_tree(name: str) -> None:
    """An event of the graph keeps the root of its tree; of the embedded engine a trigger sees to it."""
    made = cypher(name).split("CREATE (:TopologyEvent {")[1:]

    assert made
    assert all("rootId: " in event.split("})")[0] for event in made)


@pytest.mark.parametrize("name", NAMES)
def test_lists_are_collected_in_order(name: str) -> None:
    """A page is cut after it was put in order."""
    for line in cypher(name).splitlines() if name not in ANY_ORDER else ():
        assert "LIMIT" not in line or "ORDER BY" in line or line.startswith("RETURN"), line


@pytest.mark.parametrize("name", NAMES)
def test_the_tenant_is_named(name: str) -> None:
    """Every query starts from keys of one Space; only those of no Space do not."""
    of_no_space = {
        "system/applied",
        "system/ping",
        "system/record",
        "system/state",
        "turns/expired",
        "tasks/due",
        "events/old",
        "keys/find",
        "keys/in_use",
        "keys/use",
        "spaces/list",
        "spaces/deleted",
        "search/backlog",
        "search/index",
    }
    starts = {"spaces", "key", "keys", "prefix", "space", "id", "turnKey", "fromKey"}

    assert name in of_no_space or CYPHER[name].query.params & starts


@pytest.mark.parametrize("name", NAMES)
def test_a_read_is_one_statement(name: str) -> None:
    """A read in SQL is one statement, and so one state of the database; it writes nothing."""
    text = SQL[name]
    if text.query.access == "read":
        assert len(text.statements) == 1
        assert text.statements[0].startswith(("SELECT", "WITH"))
        assert not re.search(r"\b(?:SET|CREATE|DELETE|MERGE|REMOVE)\b", cypher(name))


@pytest.mark.parametrize("name", NAMES)
def test_sql_for_the_oldest_sqlite(name: str) -> None:
    """SQL keeps to what SQLite 3.35 has: HAVING needs a GROUP BY, and there is no arrow."""
    for statement in SQL[name].statements:
        assert "HAVING" not in statement or "GROUP BY" in statement
        assert "->" not in statement


def test_tasks_are_raised_alike() -> None:
    """Each trigger raises its tasks by the same block of Cypher, and by the same view in SQL."""
    raising = {name for name in NAMES if "MERGE (task:Task" in CYPHER[name].statements[0]}
    blocks = {task_block(CYPHER[name].statements[0], trigger) for name, trigger in TRIGGERS.items()}

    assert raising == set(TRIGGERS)
    assert len(blocks) == 1
    for name, trigger in TRIGGERS.items():
        (statement,) = (text for text in SQL[name].statements if text.startswith("INSERT INTO task "))
        assert "JOIN task_trigger AS r" in statement
        assert re.findall(r"\"trigger\" = '(\w+)'", statement) == [trigger]
        assert (
            "DO UPDATE SET requested = excluded.requested, dueAt = coalesce(dueAt, excluded.dueAt)"
            in statement
        )


def task_block(text: str, trigger: str) -> str:
    """What raises the tasks of a session by a trigger, whatever both are named and how far it is indented."""
    block = text[text.index("OPTIONAL MATCH (main:Session") : text.index("RETURN count(task) AS due")]
    assert re.findall(r"'([A-Z_]+)' IN", block) == [trigger] * 2
    named = re.sub(r"\bbefore\b", "s", block).replace(trigger, "TRIGGER")
    return re.sub(r"\s+", " ", named)


def test_language_in_files_alone() -> None:
    """No Cypher or SQL stands in a Python string; a transaction's own commands may."""
    root = Path(stello_graph.__file__).parent
    found = []
    for path in sorted(root.rglob("*.py")):
        allowed = TRANSACTIONS.get(str(path.relative_to(root)), set())
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and node.value not in allowed:
                found += [f"{path.name}:{node.lineno}: {match}" for match in LANGUAGE.findall(node.value)]

    assert found == []


def test_no_branch_on_the_engine() -> None:
    """Above the engines nothing asks which one it is."""
    root = Path(stello_graph.__file__).parent
    names = re.compile(r"\b(?:neo4j|sqlite)\b", re.IGNORECASE)
    knowing = {
        "store/neo4j.py",
        "store/sqlite.py",
        "store/queries.py",
        "bootstrap.py",
        "settings.py",
        "cli.py",
    }
    found = [
        f"{path.relative_to(root)}:{node.lineno}"
        for path in sorted(root.rglob("*.py"))
        if str(path.relative_to(root)) not in knowing
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Compare | ast.Match) and names.search(ast.unparse(node))
    ]

    assert found == []


@pytest.mark.parametrize("name", [name for name in NAMES if CYPHER[name].query.is_shared])
def test_shared_rows_tell_their_key(name: str) -> None:
    """Else nobody could be given the rows of his own keys."""
    assert {"key", "session.*", "turn.*"} & set(CYPHER[name].query.returns)


@pytest.mark.parametrize("texts", [CYPHER, SQL], ids=["cypher", "sql"])
def test_headers_say_something(texts: dict[str, QueryText]) -> None:
    """Rows are declared, by name."""
    for text in texts.values():
        assert text.query.returns
        assert text.json_fields <= {*text.query.returns, *LISTS}


def test_a_deleted_space_is_swept_whole() -> None:
    """Each kind of node that has a key of its Space is swept with it."""
    of_no_space = {"DeleteLock", "KeysInUse"}
    keyed = re.findall(r"FOR \(n:(\w+)\) REQUIRE n\.key", "\n".join(schema_script("cypher", "schema")))

    assert {*re.findall(r"\(n:(\w+)\)", cypher("spaces/sweep"))} == {*keyed} - of_no_space
