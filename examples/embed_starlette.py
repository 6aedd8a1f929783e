"""Two services in one Starlette application, each with a store, a model, tools and hooks of its own.

Run it in a folder of its own with `python examples/embed_starlette.py`, then open /support/ and /research/.
"""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import PlainTextResponse
from starlette.routing import Mount, Route

from stello_graph import Hooks, Settings, Tool, create_app
from stello_graph.bootstrap import open_store
from stello_graph.forest.hooks import MessageEvent
from stello_graph.llm.offline import OfflineLLM
from stello_graph.llm.scripted import ScriptedLLM


async def opening_hours(day: str) -> str:
    """Tells when the museum is open on a day of the week."""
    return "closed" if day == "Monday" else "10 to 18"


def replied(event: MessageEvent) -> None:
    print(f"a reply in {event.session_id}", flush=True)


support = create_app(Settings(store="sqlite:///support.db"), llm=ScriptedLLM(default="We call you back."))

research_settings = Settings(store="sqlite:///research.db")
research = create_app(
    research_settings,
    store=open_store(research_settings),
    llm=OfflineLLM(),
    tools=[Tool(opening_hours)],
    hooks=Hooks(on_assistant_reply=replied),
)


@asynccontextmanager
async def lifespan(_: Starlette) -> AsyncIterator[None]:
    async with support.state.graph, research.state.graph:
        yield


async def home(_: Request) -> PlainTextResponse:
    return PlainTextResponse("/support/ and /research/")


app = Starlette(
    routes=[Route("/", home), Mount("/support", support), Mount("/research", research)],
    lifespan=lifespan,
)

if __name__ == "__main__":
    uvicorn.run(app)
