"""Hostile input leaves nothing behind in memory."""

from tests.fuzz.values import TEXTS, body_of
from tests.fuzz.world import JSON, World
from tests.unit.http.sockets import socket

ROUNDS = 40
STREAM = (*JSON, (b"accept", b"text/event-stream"))


async def batch(world: World, name: str) -> None:
    """Requests that are alike each time, and never twice the same."""
    for number in range(ROUNDS):
        new = f"N{name}{number}"
        padding = "#" + "x" * 20_000 + new + "\n"
        for document in (
            padding + f"query {new} {{ me {{ scope }} }}",
            f"query {new} {{ {new} }}",
            f"{{ {new}: me {{ scope }} ",
            f'{{ session(id: "{new}") {{ id }} }}',
            f"query {new}($a: {new}) {{ me {{ scope }} }}",
        ):
            body = {"query": document, "variables": {new: 1, "texts": list(TEXTS)}, "operationName": new}
            world.check(await world.call(body_of(body)))
        following = {"query": f"subscription {new} {{ topologyEvents {{ seq }} }}"}
        await world.call(body_of(following), STREAM, enough=b"ping")
        async with socket(world.app) as client:
            client.subscribe(new, f"subscription {new} {{ topologyEvents {{ seq }} }}")
            client.subscribe("1", f"query {new} {{ me {{ scope }} }}")
            await client.over("1")
            client.send(f"{{{new}")


def test_equal_batches(world: World) -> None:
    """Of two one leaves less than ten objects a round, where a document that is kept has forty.

    The other may find timers of before that are not yet cleared away.
    """
    for warm in ("a", "b"):
        world.runner.run(batch(world, warm))
    grown = []
    for name in ("c", "d"):
        before = world.objects()
        world.runner.run(batch(world, name))
        grown.append(world.objects() - before)
    assert min(grown) < 10 * ROUNDS, grown
