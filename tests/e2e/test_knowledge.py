"""Records and shared memory over HTTP, from two servers on one store."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from tests.e2e.client import Client, Refused
from tests.model_server import ModelServer

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)

PUT = """mutation ($key: String!, $value: JSON!, $revision: Int) {
  putRecord(key: $key, value: $value, expectedRevision: $revision) { value revision } }"""
RECORD = "query ($key: String!) { record(key: $key) { value revision } }"
SHARE = "mutation ($on: Boolean!) { configureSpace(input: {sharedMemory: $on}) { id } }"
REMEMBER = """mutation ($slug: String!, $summary: String!) {
  putSharedMemory(slug: $slug, summary: $summary, body: "body") { slug } }"""
FORGET = "mutation ($slug: String!) { deleteSharedMemory(slug: $slug) }"


@pytest.fixture
async def shared(here: Client) -> AsyncIterator[None]:
    """The Space shares memory as long as the test goes on."""
    await here.ask(SHARE, on=True)
    yield
    await here.ask(SHARE, on=False)


async def test_one_of_two_processes_wins_each_revision(here: Client, there: Client, name: str) -> None:
    """Counting by compare and set from both: nothing is lost, and each sees what the other wrote."""
    await here.ask(PUT, key=name, value=0, revision=0)

    lost = []

    async def count(client: Client) -> None:
        done = 0
        while done < 5:
            found = (await client.ask(RECORD, key=name))["record"]
            try:
                await client.ask(PUT, key=name, value=found["value"] + 1, revision=found["revision"])
                done += 1
            except Refused as refused:
                lost.append(refused.code)

    await asyncio.gather(*(count(client) for client in (here, there) * 2))

    assert set(lost) <= {"CONFLICT"}
    for client in (here, there):
        assert (await client.ask(RECORD, key=name))["record"] == {"value": 20, "revision": 21}


@pytest.mark.usefixtures("shared")
async def test_what_one_process_remembers_the_other_shows(
    here: Client, there: Client, model_server: ModelServer, name: str
) -> None:
    """The next turn of any session in any process has the index in what the model is sent."""
    await here.create(name)
    await there.ask(REMEMBER, slug=name, summary="known to all")
    await here.send(name, "What is known?")
    await there.ask(FORGET, slug=name)
    await here.send(name, "And now?")

    first, second = (str(body["system"]) for body in model_server.requests)
    assert f"- {name}: known to all" in first
    assert name not in second
