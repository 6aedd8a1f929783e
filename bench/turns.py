"""Turns a second against a model that answers at once, and what a turn asks of the store; without HTTP.

Called by `python -m bench.turns [--store URL] [--concurrency 1,16] [--seconds 3]`: see README.md.
"""

import argparse
import tempfile
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from time import process_time

import uvloop

from bench.counting import CountingEngine
from bench.drive import Measured, drive
from bench.statements import settings_of
from stello_graph.bootstrap import open_engine
from stello_graph.ids import new_id
from stello_graph.llm.scripted import ScriptedLLM, Step, tool_use
from stello_graph.model.context import ModelRequest
from stello_graph.model.requests import CreateSession, Send
from stello_graph.model.turn import TurnStatus
from stello_graph.service import SpaceService, StelloGraph
from stello_graph.store.store import GraphStore
from stello_graph.tools import Tool

__all__ = ["KINDS", "Bench", "bench"]

# What the user says decides what the model does.
KINDS = ("without tools", "with a tool round")
# So many that no session grows long while it is measured.
_SESSIONS = 64


class Bench:
    """Turns of one kind or the other, each on the next of many sessions."""

    def __init__(self, space: SpaceService, engine: CountingEngine, session_ids: Sequence[str]) -> None:
        self._space = space
        self._engine = engine
        self._session_ids = session_ids

    async def turn(self, kind: str, number: int = 0) -> None:
        """One turn, to its end."""
        session_id = self._session_ids[number % len(self._session_ids)]
        turn = await self._space.send(Send(session_id=session_id, content=kind))
        assert turn.status is TurnStatus.COMPLETED, turn
        assert turn.tool_rounds == KINDS.index(kind), turn

    async def statements(self, kind: str) -> Counter[str]:
        """The named queries that one turn costs, and how often each."""
        self._engine.counts.clear()
        await self.turn(kind)
        return Counter(self._engine.counts)

    async def rate(self, kind: str, concurrency: int, seconds: float) -> Measured:
        """Turns of so many callers, after some that do not count."""

        async def ask(number: int) -> None:
            await self.turn(kind, number)

        await drive(ask, concurrency, seconds / 3)
        before = process_time()
        measured = await drive(ask, concurrency, seconds)
        return replace(measured, cpu=process_time() - before)


@asynccontextmanager
async def bench(url: str) -> AsyncIterator[Bench]:
    """A service on the store, with new sessions, which are deleted at the end."""
    settings, space_id = settings_of(url), f"bench-{new_id().lower()}"
    engine = CountingEngine(open_engine(settings))
    llm: ScriptedLLM = ScriptedLLM(default=lambda request: _answer(llm, request))
    tool = Tool(_nothing, name="nothing")
    async with StelloGraph(GraphStore(engine), llm, settings, tools=[tool]) as graph:
        await graph.store.ensure_space(space_id, "Benchmark")
        space = graph.space(space_id)
        root = await space.create_session(CreateSession(label="Benchmark"))
        children = [await space.create_session(CreateSession(parent_id=root.id)) for _ in range(_SESSIONS)]
        try:
            yield Bench(space, engine, [child.id for child in children])
        finally:
            await space.delete(root.id, 1 + _SESSIONS)


def _answer(llm: ScriptedLLM, request: ModelRequest) -> Step:
    llm.requests.clear()
    said = request.messages[-1]
    return tool_use("nothing") if (said.role, said.content) == ("user", KINDS[1]) else "So it is."


async def _nothing() -> str:
    """Does nothing."""
    return "Nothing."


async def measure(url: str, concurrency: Sequence[int], seconds: float) -> None:
    async with bench(url) as running:
        print(f"{url.partition(':')[0]:18}" + "".join(f"{_callers(n):>28}" for n in concurrency))
        print(
            " " * 18 + f"{'turns/s':>10}{'median':>10}{'cpu':>8}" * len(concurrency) + "  statements a turn"
        )
        for kind in KINDS:
            statements = await running.statements(kind)
            measured = [await running.rate(kind, callers, seconds) for callers in concurrency]
            print(f"{kind:18}" + "".join(map(_figures, measured)) + "  " + _told(statements))


def _callers(number: int) -> str:
    return f"{number} caller{'s' * (number != 1)}"


def _figures(measured: Measured) -> str:
    cpu_ms = 1_000 * measured.cpu / measured.done
    return f"{measured.rate:10.1f}{measured.median_ms:7.1f} ms{cpu_ms:5.1f} ms"


def _told(statements: Counter[str]) -> str:
    names = (name if count == 1 else f"{count} {name}" for name, count in statements.items())
    return f"{statements.total()}: {', '.join(names)}"


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m bench.turns", description="Measure turns without HTTP.")
    parser.add_argument("--store", metavar="URL", help="default: a SQLite file that goes")
    parser.add_argument("--concurrency", default="1,16", help="default: %(default)s")
    parser.add_argument("--seconds", type=float, default=3.0, help="of a run (default: %(default)s)")
    arguments = parser.parse_args()
    concurrency = [int(number) for number in arguments.concurrency.split(",")]
    with tempfile.TemporaryDirectory() as folder:
        url = arguments.store or f"sqlite:///{Path(folder) / 'bench.db'}"
        uvloop.run(measure(url, concurrency, arguments.seconds))


if __name__ == "__main__":
    main()
