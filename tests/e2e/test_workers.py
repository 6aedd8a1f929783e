"""Several processes on one port are one server: turns, followers and events, whichever of them is asked."""

import asyncio
import os
import re
import signal
import socket
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed

from tests.e2e.client import Client
from tests.e2e.conftest import Serve
from tests.e2e.processes import Server, Store, start
from tests.e2e.replies import by_question, slow
from tests.e2e.test_turns import check_numbers, held
from tests.e2e.waiting import until
from tests.model_server import ModelServer

FOLLOW = """subscription ($after: Long, $root: ID) {
  topologyEvents(after: $after, rootId: $root) { seq type nodeId } }"""
FOLLOWERS = 8


def workers(server: Server, what: str) -> list[int]:
    """The workers of which the log says something, in that order."""
    return [int(pid) for pid in re.findall(rf"worker (\d+) {what}", server.output())]


def runs(pid: int) -> bool:
    """Whether there is such a process, and it has not ended."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def is_on_uvloop(pid: int) -> bool:
    """Whether a process has loaded it: nothing else does so than making such a loop."""
    return "/uvloop/loop" in Path(f"/proc/{pid}/maps").read_text(encoding="utf-8")


async def follow(server: Server, after: int, root: str, count: int) -> list[tuple[str, str]]:
    """So many events of a tree; where the connection is lost, on from the last one over another."""
    found: list[dict[str, Any]] = []
    async with server.client() as client:
        while len(found) < count:
            stream = client.subscribe(FOLLOW, after=found[-1]["seq"] if found else after, root=root)
            try:
                while len(found) < count:
                    found.append((await anext(stream))["topologyEvents"])
            except (ConnectionClosed, OSError):
                continue
            finally:
                await stream.aclose()
    assert [event["seq"] for event in found] == sorted({event["seq"] for event in found})
    return [(event["type"], event["nodeId"]) for event in found]


@pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)
async def test_workers_are_one_server(
    there: Client,
    serve: Serve,
    shared_store: Store,
    model_server: ModelServer,
    model_settings: dict[str, str],
    name: str,
) -> None:
    """Turns and events are followed, a dead worker is replaced, SIGTERM gives what runs its time."""
    last, gate = held("Said before the end.", 1)
    model_server.respond = by_question({"Last": last, "Hello": slow("Yes.", pause=0.01)})
    server = serve(shared_store, "--workers", "2", "--grace", "60", settings=model_settings)
    assert len(workers(server, "serves")) == 2
    after = (await there.ask("{ starMap { eventSeq } }"))["starMap"]["eventSeq"]
    followers = [asyncio.create_task(follow(server, after, name, 4)) for _ in range(FOLLOWERS)]
    async with server.client() as client:
        await client.create(name)
        turn = await client.start(name, "Hello")
    told = await asyncio.gather(*(events_of(server, turn["id"]) for _ in range(4)))
    for events in told:
        check_numbers(events)
        assert events[-1]["turn"]["status"] == "COMPLETED"

    dead = workers(server, "serves")[0]
    os.kill(dead, signal.SIGKILL)
    await until(lambda: len(workers(server, "serves")) == 3, "another takes its place")
    async with server.client() as client:
        await client.ask("mutation($id: ID!) { archiveSession(id: $id) { id } }", id=name)
        await client.ask("mutation($id: ID!) { unarchiveSession(id: $id) { id } }", id=name)
        async with asyncio.timeout(60):
            heard = await asyncio.gather(*followers)
        assert (
            heard
            == [
                [
                    ("SESSION_CREATED", name),
                    ("TURN_ENDED", name),
                    ("SESSION_ARCHIVED", name),
                    ("SESSION_UNARCHIVED", name),
                ]
            ]
            * FOLLOWERS
        )
        for page in await asyncio.gather(*(metrics(server) for _ in range(4))):
            assert 'stello_turns_total{status="COMPLETED"} 1.0' in page, "all tell the sum"
        running = await client.start(name, "Last")
    await until(last.reached.is_set, "the model was asked")
    server.terminate()
    gate.set()

    assert await asyncio.to_thread(server.wait) == 0
    assert (await there.turn(running["id"]))["reply"]["content"] == "Said before the end."
    assert not any(map(runs, workers(server, "serves")))
    assert server.output().count("GraphiQL") == 1
    assert model_server.refused == []


async def metrics(server: Server) -> list[str]:
    """What a worker tells of all, over a connection of its own."""
    async with server.client() as client:
        return (await client.http.get("/metrics")).text.splitlines()


async def events_of(server: Server, turn: str) -> list[Any]:
    """All events of a turn, over a connection of its own."""
    async with server.client() as client:
        return list(await client.events(turn))


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_workers_of_a_server_that_is_killed(serve: Serve, shared_store: Store) -> None:
    """They stop by themselves. Until then they serve on uvloop, as does a server without workers."""
    alone = serve(shared_store, "--grace", "0")
    server = serve(shared_store, "--workers", "2", "--grace", "0")
    pids = workers(server, "serves")
    assert len(pids) == 2
    assert all(map(is_on_uvloop, [alone.process.pid, *pids]))

    server.kill()

    await until(lambda: not any(map(runs, pids)), "the workers end")


async def test_workers_that_cannot_start(tmp_path: Path) -> None:
    """A port that is taken, or a service that cannot be opened, ends the server with a sentence."""
    store = Store(f"sqlite:///{tmp_path}/new.db")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        second = start(store, tmp_path / "second.log", "--workers", "2", "--port", port)
        assert await asyncio.to_thread(second.wait) == 1
    assert f"port {port} of 127.0.0.1 is in use already" in second.output()
    third = start(Store(f"{store.url}x"), tmp_path / "third.log", "--workers", "2", "--no-migrate")
    assert await asyncio.to_thread(third.wait) == 1
    assert "run stello-graph migrate" in third.output()
    for server in (second, third):
        server.close()
