"""Measures the service against the driver alone: see README.md (called by scripts/bench)."""

import argparse
import os
import sys
from contextlib import AsyncExitStack
from itertools import chain
from pathlib import Path

import orjson
import uvloop

from bench.beside import Beside, Endpoint
from bench.caches import measure_caches
from bench.drive import drive
from bench.forest import SMALLEST, Forest
from bench.http_client import Client, request
from bench.items import ITEMS, Contestant
from bench.ours import Ours
from bench.peers import Peer
from bench.processes import endpoint, neo4j, peer, raw_process, service
from bench.report import as_json, ceiling_lines, peer_table, statement_lines, table
from bench.rounds import Plan, measure_rounds
from bench.seed import Seed
from bench.statements import open_driver, settings_of
from stello_graph.ids import new_id

Counted = dict[str, tuple[dict[str, int], int]]

_PREVIEW = (
    'query { contextPreview(sessionId: "line-5", content: "Hello") { estimatedTokens messages { role } } }'
)


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="scripts/bench", description="Measure against the speed budget.")
    parser.add_argument(
        "--nodes", type=int, default=20_000, help=f"at least {SMALLEST} (default: %(default)s)"
    )
    parser.add_argument(
        "--messages", type=int, default=10_000, help="of the long session (default: %(default)s)"
    )
    parser.add_argument("--items", default=",".join(ITEMS), help="default: %(default)s")
    parser.add_argument("--concurrency", default="1,16", help="default: %(default)s")
    parser.add_argument("--rounds", type=int, default=5, help="that count (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=2.0, help="of a run (default: %(default)s)")
    parser.add_argument(
        "--neo4j", metavar="URL", help="default: one of its own; user and password: README.md"
    )
    parser.add_argument("--heap", default="1g", help="of the Neo4j of its own (default: %(default)s)")
    parser.add_argument("--peer", action="store_true", help="beside @neo4j/graphql on Node as well")
    parser.add_argument("--json", type=Path, metavar="FILE", help="where to write all runs")
    arguments = parser.parse_args()
    if unknown := set(arguments.items.split(",")) - set(ITEMS):
        parser.error(f"no such item: {', '.join(sorted(unknown))}")
    if arguments.nodes < SMALLEST:
        parser.error(f"--nodes is {SMALLEST} at least")
    return arguments


async def bench(arguments: argparse.Namespace, plan: Plan, url: str) -> None:
    forest = Forest(arguments.nodes, arguments.messages)
    settings, space = settings_of(url), f"bench-{new_id()}"
    async with open_driver(settings) as driver:
        seed = Seed(driver, settings, space)
        say(f"load average {os.getloadavg()[0]:.1f}: where it is high, only large differences count")
        say(f"planting {arguments.nodes} nodes and {arguments.messages} messages")
        await seed.plant(forest)
        try:
            async with (
                service(url, space) as served,
                raw_process(url, space, arguments.nodes, arguments.messages) as raw,
                Client(served.port) as client,
                Client(raw.port) as canned,
                AsyncExitStack() as stack,
            ):
                beside = await _beside(stack, plan, url, forest, space)
                ours = Ours(client, forest)
                counted = await count_statements(ours)
                await seed.reset()
                results = await measure_rounds(plan, ours, raw, beside, seed, say)
                ceilings = {
                    callers: await measure_ceilings(client, canned, callers, plan.seconds)
                    for callers in plan.concurrency
                }
                caches = measure_caches()
        finally:
            if arguments.neo4j is not None:
                await seed.drop()
    lines = (
        table(plan, results),
        peer_table(plan, results),
        statement_lines(counted),
        ceiling_lines(ceilings),
        [str(caches)],
    )
    print("\n".join(chain.from_iterable(lines)))
    if arguments.json is not None:
        found = as_json(
            plan,
            results,
            counted,
            ceilings,
            caches=caches._asdict(),
            nodes=arguments.nodes,
            messages=arguments.messages,
        )
        arguments.json.write_bytes(orjson.dumps(found, option=orjson.OPT_INDENT_2 | orjson.OPT_NON_STR_KEYS))


async def _beside(
    stack: AsyncExitStack, plan: Plan, url: str, forest: Forest, space: str
) -> dict[Contestant, Beside]:
    port = await stack.enter_async_context(endpoint(url, space))
    beside: dict[Contestant, Beside] = {
        "endpoint": Endpoint(await stack.enter_async_context(Client(port)), forest)
    }
    if plan.has_peer:
        port = await stack.enter_async_context(peer(settings_of(url)))
        beside["peer"] = Peer(await stack.enter_async_context(Client(port)), forest, space)
    return beside


async def count_statements(ours: Ours) -> Counted:
    counted: Counted = {
        item.title: (await ours.statements(item.document, item.variables(0)), item.statements)
        for item in ITEMS.values()
    }
    return counted | {"contextPreview": (await ours.statements(_PREVIEW, {}), 1)}


async def measure_ceilings(
    client: Client, canned: Client, concurrency: int, seconds: float
) -> dict[str, float]:
    typename = request("/graphql", {"query": "{ __typename }"})
    asked = {
        "client alone": (canned, typename),
        "/healthz": (client, request("/healthz")),
        "{ __typename }": (client, typename),
    }
    rates = {}
    for what, (server, wanted) in asked.items():

        async def ask(_number: int, server: Client = server, wanted: bytes = wanted) -> None:
            await server.fetch(wanted)

        rates[what] = (await drive(ask, concurrency, seconds)).rate
    return rates


def main() -> None:
    arguments = parsed()
    plan = Plan(
        items=arguments.items.split(","),
        concurrency=[int(number) for number in arguments.concurrency.split(",")],
        rounds=arguments.rounds,
        seconds=arguments.seconds,
        has_peer=arguments.peer,
    )
    with neo4j(arguments.neo4j, arguments.heap) as url:
        uvloop.run(bench(arguments, plan, url))


if __name__ == "__main__":
    main()
