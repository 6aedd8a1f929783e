"""Many who follow the map while many turns are streamed: how late is what they hear?

Called by `python -m bench.live [--store sqlite] [--subscribers 200] [--turns 50]`: see README.md.
"""

import argparse
import asyncio
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass
from time import process_time, time

import uvloop

from bench.listening import Heard, Listener, Speaker
from bench.processes import Service, service, store
from bench.seed import open_space
from bench.statements import settings_of
from stello_graph.ids import new_id
from tests.e2e.client import Client

__all__ = ["Found", "Plan", "live"]

_ARCHIVE = "mutation ($id: ID!) { archiveSession(id: $id) { id } }"
_NEWEST = "{ starMap { eventSeq } }"


@dataclass(frozen=True, kw_only=True)
class Plan:
    """How many do what, for so many seconds after those in which all begin.

    Attributes:
        pace: seconds before each six characters of an answer.
    """

    subscribers: int = 200
    turns: int = 50
    seconds: float = 30.0
    warm_up: float = 10.0
    pace: float = 0.1


@dataclass(frozen=True, kw_only=True)
class Found:
    """What was heard, and what it took: memory in MB, processors in use."""

    heard: Heard
    seconds: float
    before: float
    peak: float
    server: float
    client: float

    def __str__(self) -> str:
        heard = self.heard
        return "\n".join(
            (
                f"{'':36}{'heard':>9}{'median':>12}{'95 %':>12}{'longest':>12}",
                _line("event of the map, from its commit", heard.events),
                _line("first delta, from the question", heard.first),
                _line("each delta, from the model", heard.deltas),
                f"turns {heard.turns / self.seconds:.1f}/s, deltas {len(heard.deltas) / self.seconds:.0f}/s, "
                f"events {len(heard.events) / self.seconds:.0f}/s",
                f"memory of the server {self.before:.0f} MB before, {self.peak:.0f} MB at most; "
                f"processors in use: server {self.server:.2f}, client {self.client:.2f}",
            )
        )


def _line(what: str, delays: Sequence[float]) -> str:
    ordered = sorted(delays)
    shown = (ordered[len(ordered) // 2], ordered[len(ordered) * 95 // 100], ordered[-1])
    return f"{what:<36}{len(ordered):>9,}" + "".join(f"{1_000 * delay:>9.1f} ms" for delay in shown)


async def live(url: str, plan: Plan) -> Found:
    """Runs a server of a Space of its own. Raises RuntimeError where somebody did not hear all of it."""
    space, heard = f"bench-{new_id().lower()}", Heard()
    await open_space(settings_of(url), space)
    settings = {"STELLO_MAX_TURNS": str(2 * plan.turns)}
    async with (
        service(url, space, pace=plan.pace, settings=settings) as server,
        Client(server.url) as client,
        asyncio.TaskGroup() as listening,
    ):
        listeners = [Listener(client, heard) for _ in range(plan.subscribers)]
        sessions = [await client.create(f"talk-{number}") for number in range(plan.turns)]
        speakers = [Speaker(client, id, heard) for id in sessions]
        after = (await client.ask(_NEWEST))["starMap"]["eventSeq"]
        for listener in listeners:
            listening.create_task(listener.follow(after))
        found = await _talk(server, speakers, heard, plan)
        await client.ask(_ARCHIVE, id=sessions[0])
    turns = sum(speaker.turns for speaker in speakers)
    if any(listener.turns != turns for listener in listeners):
        raise RuntimeError(f"of {turns} turns subscribers heard {sorted({one.turns for one in listeners})}")
    return found


async def _talk(server: Service, speakers: Sequence[Speaker], heard: Heard, plan: Plan) -> Found:
    before, until = server.memory, time() + plan.warm_up + plan.seconds
    async with asyncio.TaskGroup() as talking:
        for speaker in speakers:
            talking.create_task(speaker.talk(until))
        await asyncio.sleep(plan.warm_up)
        heard.clear()
        begun, cpu, own = time(), server.cpu, process_time()
        await asyncio.sleep(plan.seconds)
        seconds = time() - begun
        return Found(
            heard=deepcopy(heard),
            seconds=seconds,
            before=before,
            peak=server.peak,
            server=(server.cpu - cpu) / seconds,
            client=(process_time() - own) / seconds,
        )


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.live", description="Who hears how late?")
    parser.add_argument("--store", default="sqlite", help="sqlite, neo4j (a server of its own), or a URL")
    parser.add_argument("--subscribers", type=int, default=200, help="default: %(default)s")
    parser.add_argument("--turns", type=int, default=50, help="at once (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=30.0, help="that count (default: %(default)s)")
    parser.add_argument("--warm-up", type=float, default=10.0, help="seconds before them")
    parser.add_argument(
        "--pace", type=float, default=0.1, help="seconds before each six characters of an answer"
    )
    parser.add_argument("--heap", default="1g", help="of a Neo4j of its own (default: %(default)s)")
    given = parser.parse_args()
    plan = Plan(
        subscribers=given.subscribers,
        turns=given.turns,
        seconds=given.seconds,
        warm_up=given.warm_up,
        pace=given.pace,
    )
    with store(given.store, given.heap) as url:
        found = uvloop.run(live(url, plan))
    print(f"{url.partition(':')[0]}: {plan.subscribers} subscribers, {plan.turns} turns at once")
    print(found)


if __name__ == "__main__":
    main()
