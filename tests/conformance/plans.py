"""What a database means to do for a query, and what it did, by EXPLAIN and PROFILE. Nothing is written."""

import json
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager
from itertools import groupby
from operator import itemgetter
from typing import Any, Final, Protocol

from neo4j import Driver

from stello_graph.store.engine import Row
from stello_graph.store.neo4j import in_one_map
from stello_graph.store.queries import Language, Query, QueryText, load

Step = dict[str, Any]

READ: Final = re.compile(r"(SCAN|SEARCH) (\w+)(?! VIRTUAL)\b")
SORT: Final = re.compile(r"USE TEMP B-TREE FOR .*ORDER BY")
BY_ONE_KEY: Final = re.compile(r"UNIQUE \w+:\w+\(\w+\) WHERE \w+ = ")
AGGREGATE_ALONE: Final = re.compile(r"(?:count|collect|sum|max)\(")
# Steps that may give more rows than they get.
MULTIPLYING: Final = re.compile(r"Unwind|Expand|Union|ProcedureCall|Seek|Scan|Foreach")


class Plans(Protocol):
    """The plans of one database."""

    @property
    def language(self) -> Language:
        """What its queries are written in."""
        ...

    def walks(self, text: QueryText) -> list[str]:
        """The steps that walk through all of a kind, or through all of one for each of another."""
        ...

    def sorts(self, text: QueryText) -> list[str]:
        """The steps that put in order what is not cut to a page yet."""
        ...

    def cost(self, query: Query, params: Row) -> int:
        """How much work a query does, in a unit of the database."""
        ...


class SqlitePlans:
    """The plans of a file."""

    language: Final = "sql"

    def __init__(self, connected: Callable[[], AbstractContextManager[sqlite3.Connection]]) -> None:
        self._connected = connected

    def walks(self, text: QueryText) -> list[str]:
        """See Plans. An index that is made for one run alone was missing."""
        return [
            step
            for tables, steps in self._explained(text)
            for _, step in steps
            if (read := READ.match(step)) and read[2] in tables and (read[1] == "SCAN" or "AUTOMATIC" in step)
        ]

    def sorts(self, text: QueryText) -> list[str]:
        """See Plans. What was cut to a page is a subquery's, and no table's, when it is turned around."""
        found = []
        for tables, steps in self._explained(text):
            for _, group in groupby(sorted(steps), key=itemgetter(0)):
                beside = [step for _, step in group]
                if any((read := READ.match(step)) and read[2] in tables for step in beside):
                    found += [step for step in beside if SORT.match(step)]
        return found

    def cost(self, query: Query, params: Row) -> int:
        """See Plans: steps of the virtual machine, in hundreds."""
        count = 0

        def step() -> int:
            nonlocal count
            count += 1
            return 0

        with self._connected() as connection:
            connection.execute("BEGIN")
            for text in load("sql")[query.name].statements:
                connection.set_progress_handler(step, 100)
                connection.execute(text, _bound(params)).fetchall()
            connection.execute("ROLLBACK")
        return count

    def _explained(self, text: QueryText) -> Iterator[tuple[set[str], list[tuple[int, str]]]]:
        """For each statement: the names that it has for tables, and its steps below the number of another."""
        params = dict.fromkeys(text.query.params)
        tables_of = "SELECT name FROM sqlite_schema WHERE type = 'table'"
        with self._connected() as connection:
            tables = [name for (name,) in connection.execute(tables_of)]
            alias = re.compile(rf"\b(?:{'|'.join(tables)}) AS (\w+)")
            for statement in text.statements:
                steps = connection.execute(f"EXPLAIN QUERY PLAN {statement}", params)
                yield {*tables, *alias.findall(statement)}, [(above, step) for _, above, _, step in steps]


class Neo4jPlans:
    """The plans of a server."""

    language: Final = "cypher"

    def __init__(self, driver: Driver) -> None:
        self._driver = driver

    def walks(self, text: QueryText) -> list[str]:
        """See Plans. An index that a hint asks for and that cannot be used is refused by Neo4j itself."""
        steps = _steps(self._plan("EXPLAIN", text, dict.fromkeys(text.query.params)))
        return [
            _name(step)
            for step in steps
            if "Scan" in _name(step) or (_name(step) == "CartesianProduct" and not _is_one(step))
        ]

    def sorts(self, text: QueryText) -> list[str]:
        """See Plans."""
        plan = self._plan("EXPLAIN", text, dict.fromkeys(text.query.params))
        return [
            f"{_name(step)} {_details(step)}" for step in _steps(plan) if re.search("Sort|Top", _name(step))
        ]

    def cost(self, query: Query, params: Row) -> int:
        """See Plans: hits of the store, in sum."""
        return sum(int(step["dbHits"]) for step in self._profiled(query, params))

    def most_sought(self, query: Query, params: Row) -> int:
        """How many entries a query has taken from an index, of that of which it took the most."""
        return max(int(step["rows"]) for step in self._profiled(query, params) if "Seek" in _name(step))

    def _profiled(self, query: Query, params: Row) -> Iterator[Step]:
        return _steps(self._plan("PROFILE", load("cypher")[query.name], params))

    def _plan(self, command: str, text: QueryText, params: Row) -> Step:
        statement = f"{command} {in_one_map(text.statements[0])}"
        with self._driver.session() as session, session.begin_transaction() as transaction:
            summary = transaction.run(statement, given=params).consume()
            transaction.rollback()
        found = summary.profile if command == "PROFILE" else summary.plan
        assert found is not None
        return found


def _bound(params: Row) -> Row:
    return {
        name: json.dumps(value, ensure_ascii=False) if isinstance(value, dict | list | tuple) else value
        for name, value in params.items()
    }


def _steps(plan: Step) -> Iterator[Step]:
    yield plan
    for below in plan.get("children", ()):
        yield from _steps(below)


def _name(step: Step) -> str:
    return str(step["operatorType"].split("@")[0])


def _details(step: Step) -> str:
    return str(step["args"].get("Details", ""))


def _is_one(product: Step) -> bool:
    """Whether a product multiplies nothing, for one of its sides has no more than one row."""
    return any(map(_is_row, product["children"]))


def _is_row(step: Step) -> bool:
    if BY_ONE_KEY.match(_details(step)) or AGGREGATE_ALONE.match(_details(step)):
        return True
    return not MULTIPLYING.search(_name(step)) and all(map(_is_row, step.get("children", ())))
