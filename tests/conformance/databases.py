"""The databases under test: opened as a service opens them, and looked at behind its back.

What the port does not answer (events, edges, plans) is read here and nowhere else.
"""

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, LiteralString, Protocol, cast

from neo4j import GraphDatabase

from stello_graph.store.engine import Engine, Row
from stello_graph.store.neo4j import Neo4jEngine
from stello_graph.store.queries import Query, load
from stello_graph.store.sqlite import SqliteEngine
from tests.neo4j_server import Server

Snapshot = dict[str, list[Row]]

OPEN: Final = ("RUNNING", "AWAITING_CONFIRMATION")


class Database(Protocol):
    """One database; every engine that it opens is as independent as another process."""

    def open(self, *, pool_size: int = 50) -> Engine:
        """An engine on this database."""
        ...

    def snapshot(self, space_id: str) -> Snapshot:
        """All that is stored of a Space, in an order of its own."""
        ...

    def scans(self, query: Query, params: Row) -> list[str]:
        """The steps of a query's plan that walk through all of a kind."""
        ...

    def cost(self, query: Query, params: Row) -> int:
        """How much work a query does, in a unit of the database. Nothing is written."""
        ...

    def schema(self) -> set[str]:
        """The names of constraints, indexes, tables and the like."""
        ...

    def drop_schema(self) -> None:
        """Undoes all migrations."""
        ...

    def close(self) -> None:
        """Frees connections."""
        ...


class SqliteDatabase:
    """A file."""

    TABLES: Final = {
        "space": "SELECT * FROM space WHERE id = :space",
        "session": "SELECT * FROM session WHERE key GLOB :glob",
        "node": "SELECT * FROM topology_node WHERE key GLOB :glob",
        "parent": "SELECT key AS child, parentKey AS parent FROM topology_node WHERE key GLOB :glob",
        "edge": "SELECT sk AS owner, sk, seq, mk FROM has_message WHERE sk GLOB :glob OR mk GLOB :glob",
        "message": "SELECT * FROM message WHERE key GLOB :glob",
        "turn": "SELECT *, status IN ('RUNNING', 'AWAITING_CONFIRMATION') AS open FROM turn WHERE key GLOB :glob",
        "ref": "SELECT * FROM ref WHERE fromKey GLOB :glob OR toKey GLOB :glob",
        "event": "SELECT * FROM topology_event WHERE key GLOB :glob",
        "idempotency": "SELECT * FROM idempotency WHERE key GLOB :glob",
        "holder": "SELECT * FROM holder WHERE key GLOB :glob",
    }

    def __init__(self, path: Path) -> None:
        self._path = path

    def open(self, *, pool_size: int = 50) -> Engine:
        """See Database; a file needs few connections."""
        return SqliteEngine(self._path, readers=min(4, pool_size))

    def snapshot(self, space_id: str) -> Snapshot:
        """See Database."""
        params = {"space": space_id, "glob": f"{space_id}/*"}
        with self._connected() as connection:
            connection.row_factory = sqlite3.Row
            return {
                table: _tidy(dict(row) for row in connection.execute(text, params))
                for table, text in self.TABLES.items()
            }

    def scans(self, query: Query, params: Row) -> list[str]:
        """See Database."""
        (text,) = load("sql")[query.name].statements
        with self._connected() as connection:
            steps = [row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {text}", _bound(params))]
        tables = {row.removeprefix("table ") for row in self.schema() if row.startswith("table ")}
        names = _aliases(text, tables)
        return [step for step in steps if step.startswith("SCAN") and step.split()[1] in names]

    def cost(self, query: Query, params: Row) -> int:
        """Steps of the virtual machine, in hundreds."""
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

    def schema(self) -> set[str]:
        """See Database."""
        with self._connected() as connection:
            found = connection.execute("SELECT type || ' ' || name FROM sqlite_schema WHERE sql IS NOT NULL")
            return {row[0] for row in found}

    def drop_schema(self) -> None:
        """See Database."""
        for path in self._path.parent.glob(f"{self._path.name}*"):
            path.unlink()

    def close(self) -> None:
        """See Database."""

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(self._path, isolation_level=None)) as connection:
            connection.execute("CREATE TEMP TABLE decision (outcome, now, seq, extra)")
            yield connection


class Neo4jDatabase:
    """A server that runs, and its one database."""

    TABLES: Final = {
        "space": "MATCH (n:Space {id: $space}) RETURN n {.*}",
        "session": "MATCH (n:Session) WHERE n.key STARTS WITH $prefix RETURN n {.*}",
        "node": "MATCH (n:TopologyNode) WHERE n.key STARTS WITH $prefix RETURN n {.*}",
        "parent": "MATCH (n:TopologyNode)-[:PARENT|ROOT_OF]->(p) WHERE n.key STARTS WITH $prefix "
        "RETURN {child: n.key, parent: coalesce(p.key, p.id)}",
        "edge": "MATCH (s:Session)-[r:HAS_MESSAGE]->(m) WHERE s.key STARTS WITH $prefix "
        "RETURN {owner: s.key, sk: r.sk, seq: r.seq, mk: m.key}",
        "message": "MATCH (n:Message) WHERE n.key STARTS WITH $prefix RETURN n {.*}",
        "turn": "MATCH (n:Turn) WHERE n.key STARTS WITH $prefix "
        "RETURN n {.*, open: n:OpenTurn, sk: head([(s:Session)-[:HAS_TURN]->(n) | s.key])}",
        "ref": "MATCH (n:TopologyNode)-[r:REF]->(to) WHERE n.key STARTS WITH $prefix "
        "RETURN {fromKey: n.key, toKey: to.key, seq: r.seq, at: r.at}",
        "event": "MATCH (n:TopologyEvent) WHERE n.key STARTS WITH $prefix RETURN n {.*}",
        "idempotency": "MATCH (n:Idempotency) WHERE n.key STARTS WITH $prefix RETURN n {.*}",
        "holder": "MATCH (n:Holder) WHERE n.key STARTS WITH $prefix RETURN n {.*}",
    }

    def __init__(self, server: Server) -> None:
        self._server = server
        auth = None if server.user is None else (server.user, server.password or "")
        self._driver = GraphDatabase.driver(server.url, auth=auth, notifications_min_severity="OFF")

    def open(self, *, pool_size: int = 50) -> Engine:
        """See Database."""
        return Neo4jEngine(
            self._server.url, user=self._server.user, password=self._server.password, pool_size=pool_size
        )

    def snapshot(self, space_id: str) -> Snapshot:
        """See Database."""
        params = {"space": space_id, "prefix": f"{space_id}/"}
        with self._driver.session() as session, session.begin_transaction() as transaction:
            return {
                table: _tidy(record[0] for record in transaction.run(cast(LiteralString, text), params))
                for table, text in self.TABLES.items()
            }

    def scans(self, query: Query, params: Row) -> list[str]:
        """See Database."""
        plan = self._plan("EXPLAIN", query, params)
        return [step for step in _steps(plan) if "Scan" in step]

    def cost(self, query: Query, params: Row) -> int:
        """Hits of the store, in sum."""
        return _hits(self._plan("PROFILE", query, params))

    def schema(self) -> set[str]:
        """See Database."""
        with self._driver.session() as session:
            constraints = [f"constraint {row['name']}" for row in session.run("SHOW CONSTRAINTS")]
            indexes = session.run("SHOW INDEXES WHERE owningConstraint IS NULL AND type <> 'LOOKUP'")
            return {*constraints, *(f"index {row['name']}" for row in indexes)}

    def drop_schema(self) -> None:
        """See Database."""
        with self._driver.session() as session:
            for name in self.schema():
                session.run(cast(LiteralString, f"DROP {name}"))
            session.run("MATCH (n:Migration|MigrationLock) DELETE n").consume()

    def close(self) -> None:
        """See Database."""
        self._driver.close()

    def _plan(self, command: str, query: Query, params: Row) -> dict[str, Any]:
        text = load("cypher")[query.name].statements[0]
        with self._driver.session() as session, session.begin_transaction() as transaction:
            summary = transaction.run(cast(LiteralString, f"{command} {text}"), params).consume()
            transaction.rollback()
        found = summary.profile if command == "PROFILE" else summary.plan
        assert found is not None
        return found


def _tidy(rows: Iterator[Row]) -> list[Row]:
    """Rows without lock tokens and without what is null, in an order that is always the same."""
    kept = [{name: row[name] for name in sorted(row) if row[name] is not None} for row in rows]
    for row in kept:
        row.pop("lock", None)
    return sorted(kept, key=repr)


def _bound(params: Row) -> Row:
    from stello_graph.store.sqlite import _bound as bound

    return {name: bound(value) for name, value in params.items()}


def _aliases(text: str, tables: set[str]) -> set[str]:
    """The tables, and the names that a query gives them."""
    import re

    pattern = re.compile(rf"\b(?:{'|'.join(tables)}) AS (\w+)")
    return tables | set(pattern.findall(text))


def _steps(plan: dict[str, Any]) -> Iterator[str]:
    yield plan["operatorType"].split("@")[0]
    for child in plan.get("children", ()):
        yield from _steps(child)


def _hits(plan: dict[str, Any]) -> int:
    return int(plan["dbHits"]) + sum(_hits(child) for child in plan.get("children", ()))
