"""Two servers on one store: whoever follows the map hears of every change, whichever server made it."""

import asyncio
from typing import Any

import pytest

from tests.e2e.client import Client, Refused
from tests.e2e.replies import asked, slow
from tests.model_server import ModelServer

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)

FOLLOW = """subscription ($after: Long, $root: ID) { topologyEvents(after: $after, rootId: $root) {
  seq type nodeId node { label } data } }"""
PATIENCE = 60.0


async def take(client: Client, count: int, **variables: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    stream = client.subscribe(FOLLOW, **variables)
    try:
        async with asyncio.timeout(PATIENCE):
            while len(found) < count:
                found.append((await anext(stream))["topologyEvents"])
    finally:
        await stream.aclose()
    return found


@pytest.mark.covers("W45")
async def test_changes_of_both_servers(
    here: Client, there: Client, model_server: ModelServer, name: str
) -> None:
    """One tree's events are told once, in order, on both; who comes back goes on after the last number."""
    model_server.respond = lambda body: slow(f"Answer to {asked(body)}", pause=0.01)
    start = (await here.ask("{ starMap { eventSeq } }"))["starMap"]["eventSeq"]
    following = [asyncio.create_task(take(client, 5, after=start, root=name)) for client in (here, there)]
    await here.create(name, label="Top")
    await there.create(f"{name}-child", parentId=name)
    turn = await there.start(f"{name}-child", "Hello")
    await here.events(turn["id"])
    await here.ask("mutation($id: ID!) { archiveSession(id: $id) { id } }", id=name)
    await there.ask("mutation($id: ID!) { deleteSession(id: $id, expectedCount: 1) }", id=f"{name}-child")

    one, two = await asyncio.gather(*following)

    assert [event["seq"] for event in one] == [event["seq"] for event in two]
    assert [(event["type"], event["nodeId"]) for event in one] == [
        ("SESSION_CREATED", name),
        ("SESSION_CREATED", f"{name}-child"),
        ("TURN_ENDED", f"{name}-child"),
        ("SESSION_ARCHIVED", name),
        ("SESSION_DELETED", f"{name}-child"),
    ]
    assert one[2]["data"]["turnId"] == turn["id"]
    assert one[3]["node"] == {"label": "Top"}
    assert await take(here, 2, after=one[2]["seq"], root=name) == one[3:]
    newest = (await here.ask("{ starMap { eventSeq } }"))["starMap"]["eventSeq"]
    with pytest.raises(Refused) as beyond:
        await take(here, 1, after=newest + 1_000_000)
    assert beyond.value.code == "INVALID_INPUT"
