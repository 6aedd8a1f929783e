"""`stello-graph serve` with a model of its own, a Space of its own, and counted statements.

    python -m bench.server SPACE PACE serve [ARGS]

Where PACE is 0 the model answers at once, else it is the offline one, which waits so many seconds before
each piece of text.

`GET /bench` tells what was asked of the database since the last call.
"""

import sys
import time
from unittest.mock import patch

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from bench.counting import CountingEngine
from stello_graph import cli, serving
from stello_graph.bootstrap import open_engine
from stello_graph.http.app import app_of
from stello_graph.ids import DEFAULT_SPACE
from stello_graph.llm.offline import OfflineLLM
from stello_graph.llm.scripted import ScriptedLLM
from stello_graph.model.context import ModelRequest
from stello_graph.service import SpaceService, StelloGraph
from stello_graph.settings import Settings
from stello_graph.store.store import GraphStore


class _Bench(StelloGraph):
    """Whoever asks is in the Space of the benchmark."""

    def __init__(self, space_id: str, pace: float, settings: Settings) -> None:
        self.engine = CountingEngine(open_engine(settings))
        model = OfflineLLM(delay=pace) if pace else at_once("It was called the first one.")
        super().__init__(GraphStore(self.engine), model, settings)
        self._space_id = space_id

    def space(self, space_id: str = DEFAULT_SPACE) -> SpaceService:
        return super().space(self._space_id)


def at_once(text: str) -> ScriptedLLM:
    """A model that says the same always, and does not keep what it was asked."""

    def answer(_request: ModelRequest) -> str:
        model.requests.clear()
        return text

    model: ScriptedLLM = ScriptedLLM(default=answer)
    return model


def _app(graph: StelloGraph, *, opens: bool = True) -> Starlette:
    assert isinstance(graph, _Bench)
    counts = graph.engine.counts

    async def told(_request: Request) -> Response:
        seen = dict(counts)
        counts.clear()
        return JSONResponse({"statements": seen, "cpu": time.process_time()})

    app = app_of(graph, opens=opens)
    app.router.routes.insert(0, Route("/bench", told))
    return app


def main() -> None:
    space_id, pace = sys.argv.pop(1), float(sys.argv.pop(1))

    def build(settings: Settings) -> StelloGraph:
        return _Bench(space_id, pace, settings)

    with patch.object(serving, "build", build), patch.object(serving, "app_of", _app):
        cli.main()


if __name__ == "__main__":
    main()
