"""What each Space works with: the server's model, tools and functions, or an application's for that Space."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

from stello_graph.forest.agent import Agent
from stello_graph.forest.agents import AgentPool
from stello_graph.forest.functions import Functions
from stello_graph.forest.observed_llm import ObservedLLM
from stello_graph.forest.tools.builtin import builtin_tools
from stello_graph.forest.tools.toolbox import Toolbox
from stello_graph.ports import LLM, SpaceStore
from stello_graph.service.applications import ApplicationTool, SpaceAgent
from stello_graph.session.own import limited

if TYPE_CHECKING:
    from stello_graph.service.graph import StelloGraph

__all__ = ["Agents"]

P = ParamSpec("P")
T = TypeVar("T")


class Agents:
    """Makes the agents of all Spaces.

    Attributes:
        functions: the server's, each with its time limit.
        toolbox: the server's.
        pool: one agent for each Space that is used.
        strays: tools and functions that run though they were told to stop.
    """

    def __init__(
        self,
        graph: "StelloGraph",
        functions: Functions,
        tools: Sequence[ApplicationTool],
        own: Callable[[str], Awaitable[SpaceAgent]] | None,
    ) -> None:
        """
        Args:
            own: gives a Space, by its id, what it has of its own.
        """
        self._graph = graph
        self._settings = graph.settings
        self._tools = tuple(tools)
        self._own = own
        self._llm = ObservedLLM(graph.llm, graph.observers)
        self.strays: set[asyncio.Task[Any]] = set()
        self.functions = functions.limited(self.limited)
        self.toolbox = self._toolbox(self._llm, self.functions, ())
        self.pool = AgentPool(self._made, idle=graph.settings.agent_idle_seconds)

    def limited(self, what: str, function: Callable[P, T | Awaitable[T]]) -> Callable[P, Awaitable[T]]:
        """An application's own function with the time limit of the settings: see `session.own.limited`."""
        return limited(what, function, self._settings.function_seconds, self.strays)

    @asynccontextmanager
    async def now(self, store: SpaceStore) -> AsyncIterator[Agent]:
        """The agent of a Space as it is configured now, whichever process did that."""
        revision = 0 if self._own is None else (await store.space()).revision
        async with self.pool.agent(store.space_id, revision=revision) as agent:
            yield agent

    async def _made(self, space_id: str) -> Agent:
        if self._own is None:
            return Agent(self._llm, self.toolbox, self.functions)
        # Read before the application reads: what it gives may be newer, never older.
        revision = (await self._graph.store.in_space(space_id).space()).revision
        give: Callable[[str], SpaceAgent | Awaitable[SpaceAgent]] = self._own
        own = await self.limited("agents", give)(space_id)
        llm = self._llm if own.llm is None else ObservedLLM(own.llm, self._graph.observers)
        functions = self.functions if own.functions is None else own.functions.limited(self.limited)
        toolbox = self._toolbox(llm, functions, own.tools)
        return Agent(llm, toolbox, functions, revision=revision, close=own.close)

    def _toolbox(self, llm: LLM, functions: Functions, more: Sequence[ApplicationTool]) -> Toolbox:
        graph, limit = self._graph, self._settings.max_content_bytes
        builtin = builtin_tools(llm, graph.skills, limit, graph.hooks, functions.compress)
        return Toolbox(
            [*builtin, *(tool.bind(graph) for tool in (*self._tools, *more))],
            seconds=self._settings.tool_seconds,
            limit=limit,
            strays=self.strays,
        )
