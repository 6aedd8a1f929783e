"""The databases under test: opened as a service opens them, and looked at behind its back.

What the port does not answer (events, edges) is read here and nowhere else.
"""

import contextlib
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Final, Protocol

from neo4j import GraphDatabase

from stello_graph.store.engine import Engine, Row
from stello_graph.store.migrations import migrations, schema_script
from stello_graph.store.neo4j import Neo4jEngine
from stello_graph.store.queries import Language
from stello_graph.store.sqlite import SqliteEngine
from tests.conformance.plans import Neo4jPlans, Plans, SqlitePlans
from tests.neo4j_server import Server, credentials

Snapshot = dict[str, list[Row]]

OPEN: Final = ("RUNNING", "AWAITING_CONFIRMATION")


class Database(Protocol):
    """One database; every engine that it opens is as independent as another process."""

    @property
    def plans(self) -> Plans:
        """What it means to do for a query."""
        ...

    @property
    def url(self) -> str:
        """The store's URL, as another process is given it."""
        ...

    @property
    def credentials(self) -> dict[str, str]:
        """Environment variables that go with the URL."""
        ...

    def open(self, *, pool_size: int = 50) -> Engine:
        """An engine on this database."""
        ...

    def snapshot(self, space_id: str) -> Snapshot:
        """All that is stored of a Space, in an order of its own."""
        ...

    def settle(self) -> None:
        """Waits until what was written can be found."""
        ...

    def forget_terms(self, space_id: str) -> None:
        """Leaves a Space as it was before there was search, just migrated."""
        ...

    def plant(self, space_id: str, parent_id: str, ids: Sequence[str]) -> None:
        """Adds many children at once, without their events, and a record `record.<place>` for each."""
        ...

    def plant_turns(self, space_id: str, turn_id: str, count: int) -> None:
        """Adds copies of a turn: one more a second."""
        ...

    def age_events(self, space_id: str, through: int, by: int) -> None:
        """Makes a Space's events up to a number older, by so many microseconds."""
        ...

    def schema(self) -> dict[str, str]:
        """What each constraint, index, table and the like is."""
        ...

    def make_schema(self) -> None:
        """Makes the schema at once."""
        ...

    def drop_schema(self) -> None:
        """Undoes all migrations."""
        ...

    def drop_index(self, name: str) -> None:
        """Loses one index."""
        ...

    def hidden(self, key: str, seq: int | None) -> AbstractContextManager[None]:
        """Hides the message at a place of a session, or a turn, from whoever seeks it by its index."""
        ...

    def upgrade(self, space_id: str) -> None:
        """Brings a Space up to date that is as the first release of the schema left it."""
        ...

    def held(self, key: str) -> AbstractContextManager[None]:
        """A node is locked meanwhile, as by a write that is under way."""
        ...

    def forget_keys(self) -> None:
        """Deletes all keys, and that there were any."""
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
        "turn": "SELECT *, leaseUntil IS NOT NULL OR endedAt IS NULL AS open FROM turn WHERE key GLOB :glob",
        "ref": "SELECT * FROM ref WHERE fromKey GLOB :glob OR toKey GLOB :glob",
        "event": "SELECT * FROM topology_event WHERE key GLOB :glob",
        "idempotency": "SELECT * FROM idempotency WHERE key GLOB :glob",
        "holder": "SELECT * FROM holder WHERE key GLOB :glob",
        "record": "SELECT * FROM record WHERE key GLOB :glob",
        "shared_memory": "SELECT * FROM shared_memory WHERE key GLOB :glob",
        "skill": "SELECT * FROM skill WHERE key GLOB :glob",
        "task": "SELECT * FROM task WHERE key GLOB :glob",
        "profile": "SELECT * FROM fork_profile WHERE key GLOB :glob",
        "key": "SELECT * FROM api_key WHERE key GLOB :glob",
        "searchable": "SELECT key, scope, terms FROM searchable WHERE key GLOB :glob AND terms <> ''",
    }

    credentials: Final[dict[str, str]] = {}

    def __init__(self, path: Path) -> None:
        self._path = path
        self.url = f"sqlite:///{path}"
        self.plans = SqlitePlans(self._connected)

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

    def settle(self) -> None:
        """See Database; a write's terms come with it."""

    def forget_terms(self, space_id: str) -> None:
        """See Database."""
        with self._connected() as connection:
            glob = {"glob": f"{space_id}/*"}
            connection.execute("DELETE FROM searchable WHERE key GLOB :glob", glob)
            for statement in _marking("sql", "INSERT INTO unindexed"):
                connection.execute(statement)

    def plant(self, space_id: str, parent_id: str, ids: Sequence[str]) -> None:
        """See Database."""
        sessions, nodes = _children(self.snapshot(space_id), parent_id, ids)
        with self._connected() as connection:
            connection.execute("BEGIN")
            for table, rows in (("session", sessions), ("topology_node", nodes)):
                names = ", ".join(f'"{name}"' for name in rows[0])
                values = ", ".join(f":{name}" for name in rows[0])
                connection.executemany(f"INSERT INTO {table} ({names}) VALUES ({values})", rows)
            places = {"count": len(ids), "key": f"{space_id}/{parent_id}"}
            text = "UPDATE topology_node SET nextIndex = :count, childCount = :count WHERE key = :key"
            connection.execute(text, places)
            connection.executemany(
                "INSERT INTO record VALUES (:key, :id, '1', 1, 0)", _records(space_id, ids)
            )
            connection.execute("COMMIT")

    def plant_turns(self, space_id: str, turn_id: str, count: int) -> None:
        """See Database."""
        turn = next(row for row in self.snapshot(space_id)["turn"] if row["id"] == turn_id)
        copies = _copies(turn, count)
        names = ", ".join(f'"{name}"' for name in copies[0])
        values = ", ".join(f":{name}" for name in copies[0])
        with self._connected() as connection:
            connection.execute("BEGIN")
            connection.executemany(f"INSERT INTO turn ({names}) VALUES ({values})", copies)
            connection.execute("COMMIT")

    def age_events(self, space_id: str, through: int, by: int) -> None:
        """See Database."""
        text = "UPDATE topology_event SET at = at - :by WHERE spaceId = :space AND seq <= :through"
        with self._connected() as connection:
            connection.execute(text, {"space": space_id, "through": through, "by": by})

    def schema(self) -> dict[str, str]:
        """See Database."""
        with self._connected() as connection:
            text = "SELECT type || ' ' || name, sql FROM sqlite_schema WHERE sql IS NOT NULL"
            return dict(connection.execute(text).fetchall())

    def make_schema(self) -> None:
        """See Database."""
        with self._connected() as connection:
            for statement in schema_script("sql", "schema"):
                connection.execute(statement)

    def drop_schema(self) -> None:
        """See Database."""
        for path in self._path.parent.glob(f"{self._path.name}*"):
            path.unlink()

    def drop_index(self, name: str) -> None:
        """See Database."""
        with self._connected() as connection:
            connection.execute(f"DROP INDEX {name}")

    @contextlib.contextmanager
    def hidden(self, key: str, seq: int | None) -> Iterator[None]:
        """See Database."""
        column, table = ("key", "turn") if seq is None else ("sk", "has_message")
        text = f"UPDATE {table} SET {column} = :to WHERE {column} = :key" + (" AND seq = :seq" if seq else "")
        places = {"key": key, "to": f"hidden/{key}", "seq": seq}
        with self._connected() as connection:
            connection.execute(text, places)
        yield
        with self._connected() as connection:
            connection.execute(text, places | {"key": places["to"], "to": key})

    def upgrade(self, space_id: str) -> None:
        """See Database; what a column's default is holds for old rows."""

    @contextlib.contextmanager
    def held(self, key: str) -> Iterator[None]:
        """See Database; a file is locked as a whole or not at all, so nothing is."""
        yield

    def forget_keys(self) -> None:
        """See Database."""
        with self._connected() as connection:
            connection.execute("DELETE FROM api_key")
            connection.execute("DELETE FROM keys_in_use")

    def close(self) -> None:
        """See Database."""

    @contextlib.contextmanager
    def _connected(self) -> Iterator[sqlite3.Connection]:
        with contextlib.closing(sqlite3.connect(self._path, isolation_level=None)) as connection:
            for statement in schema_script("sql", "connection"):
                if statement.startswith("CREATE TEMP"):
                    connection.execute(statement)
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
        "record": "MATCH (n:Record) WHERE n.key STARTS WITH $prefix RETURN n {.*}",
        "shared_memory": "MATCH (n:SharedMemory) WHERE n.key STARTS WITH $prefix RETURN n {.*}",
        "skill": "MATCH (n:Skill) WHERE n.key STARTS WITH $prefix RETURN n {.*}",
        "task": "MATCH (n:Task) WHERE n.key STARTS WITH $prefix RETURN n {.*}",
        "profile": "MATCH (n:ForkProfile) WHERE n.key STARTS WITH $prefix RETURN n {.*}",
        "key": "MATCH (n:ApiKey) WHERE n.key STARTS WITH $prefix RETURN n {.*}",
        "searchable": "MATCH (n:Session|Message) WHERE n.key STARTS WITH $prefix "
        "UNWIND [['LABEL', n.labelTerms], ['MEMORY', n.memoryTerms], ['MESSAGE', n.terms]] AS one "
        "WITH n, one WHERE one[1] <> '' RETURN {key: n.key, scope: one[0], terms: one[1]}",
    }

    def __init__(self, server: Server) -> None:
        self._server = server
        self.url = server.url
        self.credentials = credentials(server)
        auth = None if server.user is None else (server.user, server.password or "")
        self._driver = GraphDatabase.driver(server.url, auth=auth, notifications_min_severity="OFF")
        self.plans = Neo4jPlans(self._driver)

    def open(self, *, pool_size: int = 50) -> Engine:
        """See Database; a machine under test may be slow, so tries go on for long."""
        return Neo4jEngine(
            self._server.url,
            user=self._server.user,
            password=self._server.password,
            pool_size=pool_size,
            retry_seconds=60.0,
        )

    def snapshot(self, space_id: str) -> Snapshot:
        """See Database."""
        params = {"space": space_id, "prefix": f"{space_id}/"}
        with self._driver.session() as session, session.begin_transaction() as transaction:
            return {
                table: _tidy(record[0] for record in transaction.run(text, params))
                for table, text in self.TABLES.items()
            }

    def settle(self) -> None:
        """See Database."""
        with self._driver.session() as session:
            session.run("CALL db.index.fulltext.awaitEventuallyConsistentIndexRefresh()").consume()

    def forget_terms(self, space_id: str) -> None:
        """See Database."""
        text = (
            "MATCH (n:Session|Message) WHERE n.key STARTS WITH $prefix "
            "REMOVE n.terms, n.labelTerms, n.memoryTerms"
        )
        with self._driver.session() as session:
            session.run(text, {"prefix": f"{space_id}/"}).consume()
            for statement in _marking("cypher", "MATCH"):
                session.run(statement).consume()

    def plant(self, space_id: str, parent_id: str, ids: Sequence[str]) -> None:
        """See Database."""
        sessions, nodes = _children(self.snapshot(space_id), parent_id, ids)
        text = (
            "MATCH (p:TopologyNode {key: $parent}) "
            "SET p.nextIndex = size($nodes), p.childCount = size($nodes) "
            "WITH p UNWIND range(0, size($nodes) - 1) AS i "
            "CREATE (s:Session) SET s = $sessions[i] CREATE (n:TopologyNode)-[:PARENT]->(p) SET n = $nodes[i]"
        )
        with self._driver.session() as session:
            params = {"parent": f"{space_id}/{parent_id}", "sessions": sessions, "nodes": nodes}
            session.run(text, params).consume()
            text = (
                "UNWIND $records AS one CREATE (r:Record) "
                "SET r = one, r.value = '1', r.revision = 1, r.updatedAt = 0"
            )
            session.run(text, {"records": _records(space_id, ids)}).consume()

    def plant_turns(self, space_id: str, turn_id: str, count: int) -> None:
        """See Database."""
        turn = next(row for row in self.snapshot(space_id)["turn"] if row["id"] == turn_id)
        text = (
            "MATCH (s:Session {key: $sk}) UNWIND $copies AS copy "
            "CREATE (s)-[:HAS_TURN]->(t:Turn) SET t = copy"
        )
        with self._driver.session() as session:
            session.run(text, {"sk": turn["sk"], "copies": _copies(turn, count)}).consume()

    def age_events(self, space_id: str, through: int, by: int) -> None:
        """See Database."""
        text = "MATCH (e:TopologyEvent) WHERE e.spaceId = $space AND e.seq <= $through SET e.at = e.at - $by"
        with self._driver.session() as session:
            session.run(text, {"space": space_id, "through": through, "by": by}).consume()

    def schema(self) -> dict[str, str]:
        """See Database."""
        fields = "YIELD name, type, entityType, labelsOrTypes, properties"
        with self._driver.session() as session:
            constraints = session.run(f"SHOW CONSTRAINTS {fields}")
            found = {f"constraint {row['name']}": repr(row.values()) for row in constraints}
            indexes = session.run(f"SHOW INDEXES {fields}, owningConstraint")
            return found | {
                f"index {row['name']}": repr(row.values())
                for row in indexes
                if row["owningConstraint"] is None and row["type"] != "LOOKUP"
            }

    def make_schema(self) -> None:
        """See Database."""
        with self._driver.session() as session:
            for statement in (*schema_script("cypher", "schema"), *schema_script("cypher", "await")):
                session.run(statement).consume()

    def drop_schema(self) -> None:
        """See Database."""
        names = self.schema()
        with self._driver.session() as session:
            for name in names:
                session.run(f"DROP {name}")
            session.run("MATCH (n:Migration|MigrationLock) DELETE n").consume()

    def drop_index(self, name: str) -> None:
        """See Database."""
        with self._driver.session() as session:
            session.run(f"DROP INDEX {name}").consume()

    @contextlib.contextmanager
    def hidden(self, key: str, seq: int | None) -> Iterator[None]:
        """See Database."""
        text = (
            "MATCH (n:Turn {key: $key}) SET n.key = $to"
            if seq is None
            else "MATCH ()-[r:HAS_MESSAGE {sk: $key, seq: $seq}]->() SET r.sk = $to"
        )
        hidden = f"hidden/{key}"
        with self._driver.session() as session:
            session.run(text, key=key, to=hidden, seq=seq).consume()
            yield
            session.run(text, key=hidden, to=key, seq=seq).consume()

    def upgrade(self, space_id: str) -> None:
        """See Database."""
        with self._driver.session() as session:
            text = "MATCH (sp:Space {id: $space}) REMOVE sp.sharedMemory, sp.receipts, sp.nextPlace"
            session.run(text, {"space": space_id}).consume()
        self.make_schema()

    @contextlib.contextmanager
    def held(self, key: str) -> Iterator[None]:
        """See Database."""
        with self._driver.session() as session, session.begin_transaction() as held:
            held.run("MATCH (n:TopologyNode {key: $key}) SET n.lock = 'held'", key=key).consume()
            yield

    def forget_keys(self) -> None:
        """See Database."""
        with self._driver.session() as session:
            session.run("MATCH (n:ApiKey|KeysInUse) DELETE n").consume()

    def close(self) -> None:
        """See Database."""
        self._driver.close()


def _marking(language: Language, start: str) -> list[str]:
    """What the migration does that brings search to mark what is there."""
    (step,) = [one for one in migrations(language) if one.name == "0009_search"]
    found = [statement for statement in step.statements if statement.startswith(start)]
    assert len(found) == 2
    return found


def _tidy(rows: Iterator[Row]) -> list[Row]:
    """Rows without lock tokens and without what is null, in an order that is always the same."""
    kept = [{name: row[name] for name in sorted(row) if row[name] is not None} for row in rows]
    for row in kept:
        row.pop("lock", None)
    return sorted(kept, key=repr)


def _copies(turn: Row, count: int) -> list[Row]:
    stored = {name: value for name, value in turn.items() if name != "open"}
    return [
        stored
        | {
            "key": f"{turn['key']}-{n}",
            "id": f"{turn['id']}-{n}",
            "number": turn["number"] + n,
            "startedAt": turn["startedAt"] + n * 1_000_000,
        }
        for n in range(1, count + 1)
    ]


def _children(stored: Snapshot, parent_id: str, ids: Sequence[str]) -> tuple[list[Row], list[Row]]:
    """Rows of sessions and nodes like those of their parent."""
    (session,) = [row for row in stored["session"] if row["id"] == parent_id]
    (node,) = [row for row in stored["node"] if row["id"] == parent_id]
    below = {"parentId": parent_id, "parentKey": node["key"], "depth": node["depth"] + 1}
    names = [{"key": f"{node['spaceId']}/{id}", "id": id} for id in ids]
    return (
        [session | name for name in names],
        [node | below | name | {"index": place} for place, name in enumerate(names)],
    )


def _records(space_id: str, ids: Sequence[str]) -> list[Row]:
    names = [f"record.{place:06}" for place in range(len(ids))]
    return [{"key": f"{space_id}/{name}", "id": name} for name in names]
