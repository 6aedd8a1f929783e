"""What earlier tests left in a store that tests share: background tasks, and keys."""

import contextlib
import sqlite3
from typing import LiteralString

from neo4j import GraphDatabase

from tests.e2e.processes import Store

__all__ = ["forget_keys", "forget_tasks"]


def forget_tasks(store: Store) -> None:
    """Deletes them. Any process would do them, with its own model, whichever test it serves by then."""
    if store.url.startswith("sqlite:"):
        with contextlib.closing(sqlite3.connect(store.path, timeout=30)) as file:
            file.execute("DELETE FROM task")
            file.commit()
        return
    _forget(store, "MATCH (t:Task) DETACH DELETE t")
    forget_keys(store)


def forget_keys(store: Store) -> None:
    """Deletes all keys of a graph database, and that there were any: servers without keys need none."""
    _forget(store, "MATCH (n:ApiKey|KeysInUse) DETACH DELETE n")


def _forget(store: Store, statement: LiteralString) -> None:
    user = store.environment.get("STELLO_NEO4J_USER")
    auth = None if user is None else (user, store.environment["STELLO_NEO4J_PASSWORD"])
    with GraphDatabase.driver(store.url, auth=auth, notifications_min_severity="OFF") as driver:
        driver.execute_query(statement)
