"""A store that goes away and comes back, and one that is backed up and restored, on both engines."""

import asyncio
import contextlib
import itertools
import json
import sqlite3
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import pytest

from stello_graph.ids import DEFAULT_SPACE
from tests.conformance.databases import Neo4jDatabase, SqliteDatabase
from tests.conformance.invariants import check_invariants
from tests.e2e.client import Client, Refused
from tests.e2e.conftest import Serve, sqlite_store
from tests.e2e.processes import Store
from tests.e2e.replies import by_question, slow
from tests.e2e.waiting import until
from tests.engines import OpenLocal
from tests.model_server import ModelServer

EXISTS: Final = "query ($id: ID!) { session(id: $id) { id } }"

Backup = Callable[[Path, Path], None]


async def status(client: Client, path: str) -> int:
    return (await client.http.get(path)).status_code


async def is_ready(client: Client) -> None:
    """Waits: a slow machine may not answer in time."""

    async def ready() -> bool:
        return await status(client, "/readyz") == 200

    await until(ready, "it is ready")


async def exists(client: Client, id: str) -> bool:
    return bool((await client.ask(EXISTS, id=id))["session"])


@asynccontextmanager
async def writing(client: Client) -> AsyncIterator[list[str]]:
    """Sessions are made one after the other; those that were acknowledged."""
    stored: list[str] = []

    async def write() -> None:
        for number in itertools.count():
            stored.append(await client.create(f"under-load-{number}"))

    task = asyncio.create_task(write())
    try:
        yield stored
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task


def vacuum_into(source: Path, target: Path) -> None:
    """`sqlite3 SOURCE "VACUUM INTO 'TARGET'"`."""
    with contextlib.closing(sqlite3.connect(source, timeout=60)) as connection:
        connection.execute("VACUUM INTO ?", (str(target),))


def online_backup(source: Path, target: Path) -> None:
    """`sqlite3 SOURCE ".backup TARGET"`."""
    with (
        contextlib.closing(sqlite3.connect(source, timeout=60)) as connection,
        contextlib.closing(sqlite3.connect(target)) as copy,
    ):
        connection.backup(copy)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
@pytest.mark.parametrize("back_up", [vacuum_into, online_backup])
async def test_a_file_is_backed_up_while_it_is_written(
    engine: str, serve: Serve, tmp_path: Path, back_up: Backup
) -> None:
    """The copy has all that was acknowledged before, is whole, and a server starts on it."""
    server = serve(sqlite_store(tmp_path))
    copy = tmp_path / "restored" / "stello.db"
    copy.parent.mkdir()
    async with server.client() as client, writing(client) as stored:
        await until(lambda: len(stored) >= 10, "ten sessions are there")
        before = list(stored)
        await asyncio.to_thread(back_up, tmp_path / "stello.db", copy)
        at_the_end = len(stored)
        await until(lambda: len(stored) >= at_the_end + 3, "writing goes on")

    check_invariants(SqliteDatabase(copy).snapshot(DEFAULT_SPACE))
    async with serve(Store(f"sqlite:///{copy}")).client() as client:
        assert [await exists(client, id) for id in before] == [True] * len(before)
        await client.create("after-the-restore")
        await is_ready(client)


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_file_that_goes_away(engine: str, serve: Serve, tmp_path: Path) -> None:
    """Not ready while it is not in its place, or another is; ready by itself once it is back."""
    file, aside = tmp_path / "stello.db", tmp_path / "aside.db"
    async with serve(sqlite_store(tmp_path)).client() as client:
        await is_ready(client)
        file.rename(aside)
        assert [await status(client, path) for path in ("/readyz", "/healthz")] == [503, 200]
        file.write_bytes(aside.read_bytes())
        assert await status(client, "/readyz") == 503
        aside.rename(file)
        await is_ready(client)
        await client.create("still-there")


@pytest.mark.parametrize("engine", ["neo4j"], indirect=True)
async def test_neo4j_goes_away_and_is_restored(
    engine: str, local_neo4j: OpenLocal, serve: Serve, tmp_path: Path
) -> None:
    """Not ready while it is stopped, by itself after; what a dump has is there once it is loaded."""
    neo4j = local_neo4j(engine)
    store = Store(neo4j.url)
    server = serve(store)
    async with server.client() as client:
        await is_ready(client)
        await client.create("before")
        await asyncio.to_thread(neo4j.stop)
        assert [await status(client, path) for path in ("/readyz", "/healthz")] == [503, 200]
        await asyncio.to_thread(neo4j.admin, "database", "dump", "neo4j", f"--to-path={tmp_path}")
        await asyncio.to_thread(neo4j.start)
        await is_ready(client)
        await client.create("after")
        assert await exists(client, "before")
    server.terminate()
    assert await asyncio.to_thread(server.wait) == 0

    await asyncio.to_thread(neo4j.stop)
    load = ("database", "load", "neo4j", f"--from-path={tmp_path}", "--overwrite-destination=true")
    await asyncio.to_thread(neo4j.admin, *load)
    await asyncio.to_thread(neo4j.start)
    async with serve(store).client() as client:
        assert [await exists(client, id) for id in ("before", "after")] == [True, False]
        await client.create("after-the-restore")
    database = Neo4jDatabase(neo4j)
    check_invariants(database.snapshot(DEFAULT_SPACE))
    database.close()


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_the_log_of_a_server(
    engine: str, serve: Serve, tmp_path: Path, model_server: ModelServer, model_settings: dict[str, str]
) -> None:
    """Each line is an object, and none has anything of what was said, or a key."""
    model_server.respond = by_question({"pLaNtEd-question": slow("pLaNtEd-reply", pause=0)})
    key = "pLaNtEd-key-of-32-characters-at-least"
    settings = {**model_settings, "STELLO_BOOTSTRAP_KEY": key}
    server = serve(sqlite_store(tmp_path), "--log-format", "json", settings=settings)
    async with server.client(key) as client:
        await client.create("s", label="pLaNtEd-label", systemPrompt="pLaNtEd-prompt")
        turn = await client.send("s", "pLaNtEd-question")
        assert turn["reply"]["content"] == "pLaNtEd-reply"
        with pytest.raises(Refused):
            await client.ask("query { session(id: 1) { pLaNtEd } }")
        with pytest.raises(Refused):
            await client.create("pLaNtEd/id")
    server.terminate()
    assert await asyncio.to_thread(server.wait) == 0

    output = server.output()
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{")]
    assert {line["outcome"] for line in lines if line["message"] == "request /graphql"} == {
        "OK",
        "INVALID_INPUT",
    }
    assert [line["outcome"] for line in lines if line["message"] == "turn turn"] == ["COMPLETED"]
    banner = output.splitlines()[: -len(lines)]
    assert all(line.split()[0] in ("Star", "GraphiQL", "Store", "Model", "Access") for line in banner), banner
    assert "pLaNtEd" not in output
    assert model_settings["ANTHROPIC_API_KEY"] not in output
