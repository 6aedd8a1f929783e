"""The service in a FastAPI application, for its own users, each in the Space of their team.

Run it in a folder of its own with `python examples/embed_fastapi.py`, then open /docs; /ai/graphql takes the
header `Authorization: Bearer ada`.
"""

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Annotated, Any

import uvicorn
from fastapi import FastAPI, Header, HTTPException
from starlette.requests import HTTPConnection

from stello_graph import KeyScope, Settings, StelloGraph, Viewer, create_app
from stello_graph.model.writes import SessionFilter

# Stands for the application's own users: token, team, what they may.
USERS = {"ada": ("red", KeyScope.WRITE), "bob": ("blue", KeyScope.READ)}


def viewer_of(authorization: str) -> Viewer | None:
    """The application's own sign-in."""
    user = authorization.removeprefix("Bearer ")
    if user not in USERS:
        return None
    team, scope = USERS[user]
    return Viewer(space_id=team, scope=scope, key_name=user)


async def authenticate(connection: HTTPConnection, payload: Mapping[str, Any]) -> Viewer | None:
    """By the header, or on a WebSocket by the payload of its connection_init."""
    return viewer_of(payload.get("Authorization") or connection.headers.get("authorization", ""))


ai = create_app(Settings(store="sqlite:///teams.db"), authenticate=authenticate)
graph: StelloGraph = ai.state.graph


@asynccontextmanager
async def lifespan(_: FastAPI) -> AsyncIterator[None]:
    async with graph:
        for team in ("red", "blue"):
            await graph.store.ensure_space(team, team.title())
        yield


app = FastAPI(lifespan=lifespan)
app.mount("/ai", ai)


@app.get("/labels")
async def labels(authorization: Annotated[str, Header()] = "") -> list[str]:
    """The same service without HTTP, in a route of the application."""
    viewer = viewer_of(authorization)
    if viewer is None or viewer.space_id is None:
        raise HTTPException(401)
    space = graph.space(viewer.space_id)
    return [
        session.label for session in await space.store.list_sessions(SessionFilter(), after="", first=100)
    ]


if __name__ == "__main__":
    uvicorn.run(app)
