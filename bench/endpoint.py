"""The least that can answer the reads over HTTP: the statements of raw-best, each behind a route of its own.

    python -m bench.endpoint SPACE

Starlette on uvicorn and uvloop, and orjson, as for ours: no access control, limits, ids, logs or metrics. It
prints its address. `GET /bench` tells what it took of the processor, in seconds.
"""

import os
import socket
import sys
import time

import uvicorn
import uvloop
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from bench.items import ITEMS
from bench.raw_reads import RawReads
from bench.statements import open_driver, settings_of
from stello_graph.http.answers import JSONAnswer


async def main(space: str) -> None:
    settings = settings_of(os.environ["STELLO_STORE"])
    async with open_driver(settings) as driver:
        reads = RawReads(driver, settings.neo4j_database, space)

        async def read(request: Request) -> Response:
            letter = request.path_params["letter"]
            return JSONAnswer(await reads.best(letter, ITEMS[letter]))

        async def told(_request: Request) -> Response:
            return JSONAnswer({"cpu": time.process_time()})

        app = Starlette(routes=[Route("/bench", told), Route("/{letter}", read)])
        await _serve(app)


async def _serve(app: Starlette) -> None:
    config = uvicorn.Config(app, lifespan="off", log_config=None, access_log=False, server_header=False)
    with socket.create_server(("127.0.0.1", 0)) as listener:
        print(f"http://127.0.0.1:{listener.getsockname()[1]}/", flush=True)
        await uvicorn.Server(config).serve([listener])


if __name__ == "__main__":
    uvloop.run(main(sys.argv[1]))
