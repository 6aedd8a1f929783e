"""Background tasks that earlier tests left in a store that tests share."""

import contextlib
import sqlite3

from neo4j import GraphDatabase

from tests.e2e.processes import Store

__all__ = ["forget_tasks"]


def forget_tasks(store: Store) -> None:
    """Deletes them. Any process would do them, with its own model, whichever test it serves by then."""
    if store.url.startswith("sqlite:"):
        with contextlib.closing(sqlite3.connect(store.path, timeout=30)) as file:
            file.execute("DELETE FROM task")
            file.commit()
        return
    user = store.environment.get("STELLO_NEO4J_USER")
    auth = None if user is None else (user, store.environment["STELLO_NEO4J_PASSWORD"])
    with GraphDatabase.driver(store.url, auth=auth, notifications_min_severity="OFF") as driver:
        driver.execute_query("MATCH (t:Task) DETACH DELETE t")
