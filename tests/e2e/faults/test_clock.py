"""A process whose clock jumps: leases hold, since they follow the store's."""

import itertools
import os
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from tests.e2e import documents
from tests.e2e.client import Client, Follower
from tests.e2e.conftest import OpenStore, Serve
from tests.e2e.processes import Server
from tests.e2e.replies import MIXED, slow
from tests.model_server import ModelServer

pytestmark = pytest.mark.parametrize("engine", ["sqlite", "neo4j"], indirect=True)

HOUR: Final = 3600
CLOCK: Final = Path(__file__).parent / "clock"
SETTINGS: Final = {"STELLO_RENEW_SECONDS": "0.25", "STELLO_JANITOR_SECONDS": "0.2"}
DIGITS: Final = "0123456789abcdefghjkmnpqrstvwxyz"


@dataclass
class Clocked:
    """A server whose clock can be set."""

    server: Server
    file: Path

    def jump(self, seconds: int) -> None:
        """Sets the clock ahead, or back."""
        new = self.file.with_suffix(".new")
        new.write_text(str(seconds))
        new.replace(self.file)


ServeClocked = Callable[[str], Clocked]


@pytest.fixture
def serve_clocked(
    engine: str, serve: Serve, open_store: OpenStore, model_settings: dict[str, str], tmp_path: Path
) -> ServeClocked:
    """Starts servers on one store, each with a clock of its own."""
    store = open_store(engine)
    path = os.pathsep.join([str(CLOCK), *filter(None, [os.environ.get("PYTHONPATH")])])

    def serve_(name: str) -> Clocked:
        file = tmp_path / name
        file.write_text("0")
        clock = {"PYTHONPATH": path, "CLOCK_FILE": str(file)}
        return Clocked(serve(store, settings={**model_settings, **SETTINGS, **clock}), file)

    return serve_


async def test_a_turn_outlives_a_jump_of_either_clock(
    serve_clocked: ServeClocked, model_server: ModelServer, name: str
) -> None:
    """Ahead and back, of its own process and of one that looks for turns whose holder died."""
    model_server.respond = lambda _: slow(MIXED * 2, pause=0.05, chunk=2)
    holder, watcher = serve_clocked("holder"), serve_clocked("watcher")
    async with holder.server.client() as here, watcher.server.client() as there:
        for place, (jumping, jump) in enumerate(itertools.product((holder, watcher), (HOUR, -HOUR))):
            session = await here.create(f"{name}-{place}")
            turn = await here.start(session, "Take your time")
            async with Follower(there, turn["id"]) as follower:
                await follower.heard(5)
                jumping.jump(jump)
                events = await follower.ended()
            assert events[-1]["turn"]["status"] == "COMPLETED"
            assert follower.text == MIXED * 2
            jumped = here if jumping is holder else there
            assert await clock_of(jumped) == pytest.approx(time.time() + jump, abs=600)


async def clock_of(client: Client) -> float:
    """What time it is for a server, in seconds: the ids that it makes begin with it."""
    made = await client.ask(documents.CREATE, input={})
    milliseconds = 0
    for digit in made["createSession"]["id"][:10]:
        milliseconds = 32 * milliseconds + DIGITS.index(digit)
    return milliseconds / 1000
