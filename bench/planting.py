"""A wide tree into either engine, past the service: a million nodes in a minute or a few."""

import asyncio
import json
import sqlite3
from collections.abc import Iterable, Iterator
from contextlib import closing, contextmanager
from itertools import islice
from pathlib import Path
from typing import Any

from bench.seed import open_space
from bench.statements import open_driver, run, settings_of
from bench.wide import Wide, node_id
from stello_graph.settings import Settings

__all__ = ["plant"]

_SQL = Path(__file__).parent / "sql"
_BATCH = 5_000


async def plant(url: str, wide: Wide) -> None:
    """Schema, Space, nodes, messages, and what search finds them by."""
    settings = settings_of(url)
    await open_space(settings, wide.space)
    if settings.sqlite_path is None:
        await _into_graph(settings, wide)
    else:
        await asyncio.to_thread(_into_file, settings.sqlite_path, wide)


async def _into_graph(settings: Settings, wide: Wide) -> None:
    async with open_driver(settings) as driver:

        async def write(name: str, **params: Any) -> None:
            await run(driver, settings.neo4j_database, f"seed/{name}", space=wide.space, **params)

        for rows in _batches(wide.node_rows()):
            await write("nodes", rows=rows)
            await write("parents", rows=rows)
            await write("events", rows=rows)
        await write("roots", rows=[next(wide.node_rows())], count=wide.nodes)
        for number in wide.talks:
            for rows in _batches(wide.said_rows(number)):
                await write("messages", rows=rows, key=wide.key(node_id(number)))
        # Full-text indexes follow their store: what is measured does not wait for them.
        await run(driver, settings.neo4j_database, "seed/settle")


def _into_file(path: Path, wide: Wide) -> None:
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        # Not durable, and back to the engine's own ways with its next connection.
        connection.execute("PRAGMA journal_mode = MEMORY")
        connection.execute("PRAGMA synchronous = OFF")
        connection.execute("BEGIN")
        with _indexed_at_once(connection):
            _insert(connection, "nodes", wide.node_rows())
            for number in wide.talks:
                _insert(connection, "messages", wide.said_rows(number))
        talks = json.dumps([wide.key(node_id(number)) for number in wide.talks])
        for statement in _statements("counts"):
            connection.execute(statement, {"space": wide.space, "nodes": wide.nodes, "talks": talks})
        connection.execute("COMMIT")


@contextmanager
def _indexed_at_once(connection: sqlite3.Connection) -> Iterator[None]:
    """What search needs is made at the end of the block: row by row it takes longer than all else."""
    text = "SELECT sql FROM sqlite_schema WHERE name = 'searchable_comes'"
    (trigger,) = connection.execute(text).fetchone()
    (before,) = connection.execute("SELECT coalesce(max(id), 0) FROM searchable").fetchone()
    connection.execute("DROP TRIGGER searchable_comes")
    yield
    connection.execute(
        "INSERT INTO search_index (rowid, terms) SELECT id, terms FROM searchable WHERE id > ?", [before]
    )
    connection.execute(trigger)


def _insert(connection: sqlite3.Connection, name: str, rows: Iterable[dict[str, Any]]) -> None:
    statements = _statements(name)
    for batch in _batches(rows):
        for statement in statements:
            connection.executemany(statement, batch)


def _statements(name: str) -> list[str]:
    texts = (_SQL / f"{name}.sql").read_text().split(";\n")
    return [text for text in texts if text.strip()]


def _batches(rows: Iterable[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    left = iter(rows)
    while batch := list(islice(left, _BATCH)):
        yield batch
