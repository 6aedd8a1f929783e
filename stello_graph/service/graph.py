"""The service without HTTP: what GraphQL, the CLI and Python callers share."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, AbstractContextManager
from types import TracebackType
from typing import Self, TypeVar

from stello_graph.errors import NotFound, SessionBusy
from stello_graph.forest.agent import Agent
from stello_graph.forest.backlog import keep_indexing
from stello_graph.forest.compact import compact_now
from stello_graph.forest.events import keep_pruned
from stello_graph.forest.fork import fork
from stello_graph.forest.functions import Functions
from stello_graph.forest.hook_runner import HookRunner
from stello_graph.forest.hooks import ForkEvent, HooksProvider
from stello_graph.forest.integrate import integrate_due, integrate_now
from stello_graph.forest.memory import consolidate_due, consolidate_now, put_insight, put_insights, put_memory
from stello_graph.forest.places import Places
from stello_graph.forest.preview import preview
from stello_graph.forest.scheduler import Scheduler, TaskTimes
from stello_graph.forest.selection import Select
from stello_graph.forest.sessions import append_drafts, create_session, update_session
from stello_graph.forest.skill_folders import folder_skills
from stello_graph.forest.skills import SkillBook
from stello_graph.forest.spaces import configure
from stello_graph.forest.turn_times import TurnTimes
from stello_graph.forest.turns import Turns
from stello_graph.forest.watch import Watch
from stello_graph.ids import DEFAULT_SPACE, check_id
from stello_graph.model.checks import check_range, check_text, idempotency
from stello_graph.model.context import ToolSpec
from stello_graph.model.memory import InsightDraft, Integration, TaskKind
from stello_graph.model.message import Message
from stello_graph.model.requests import (
    AppendedMessage,
    CreateSession,
    Fork,
    Send,
    SpaceChanges,
    UpdateSession,
)
from stello_graph.model.session import Session
from stello_graph.model.space import Space
from stello_graph.model.turn import Turn, TurnEvent
from stello_graph.ports import LLM, SpaceStore, Store
from stello_graph.ports.observing import Observers
from stello_graph.service.access import AccessService, KeyService
from stello_graph.service.agents import Agents
from stello_graph.service.applications import ApplicationTool, SpaceAgent
from stello_graph.service.events import EventService
from stello_graph.service.knowledge import KnowledgeService
from stello_graph.service.opening import Opening
from stello_graph.service.search import SearchService
from stello_graph.service.topology import TopologyService
from stello_graph.session.context.compile import Compiled
from stello_graph.settings import Settings

__all__ = ["SpaceService", "StelloGraph"]

T = TypeVar("T")


class StelloGraph(AccessService):
    """The whole service over one store and one model provider.

    Use it as an asynchronous context manager, or call `open` and `aclose`.
    """

    def __init__(
        self,
        store: Store,
        llm: LLM,
        settings: Settings,
        *,
        functions: Functions | None = None,
        tools: Sequence[ApplicationTool] = (),
        hooks: HooksProvider | Sequence[HooksProvider] = (),
        agents: Callable[[str], Awaitable[SpaceAgent]] | None = None,
        observers: Observers | None = None,
    ) -> None:
        """Reads the skill folders and opens nothing yet; `bootstrap.build` has the usual parts.

        Args:
            functions: the application's own, in place of the default ones.
            tools: what the model can call beside the built-in ones.
            hooks: told of what happens, fire-and-forget; of several, all are.
            agents: gives a Space, by its id, a model client, tools or functions of its own. Asked when the
                Space is first used, and again after it was idle or configured anew.
            observers: told of turns, model calls and tasks; the store may tell the same ones of queries.
        """
        self.store = store
        # Set once the server stops and streams without an end are to end.
        self.stopping = asyncio.Event()
        self.observers = observers or Observers()
        self.llm = llm
        self.settings = settings
        self.skills = SkillBook(folder_skills(settings.skills))
        self.hooks = HookRunner(hooks, seconds=settings.function_seconds)
        self._set_up_access(store, settings)
        times = TurnTimes(
            lease=settings.lease_seconds,
            renew=settings.renew_seconds,
            janitor=settings.janitor_seconds,
            follow=settings.follow_seconds,
        )
        self.making = Agents(self, functions or Functions(), tools, agents)
        self.functions, self.toolbox = self.making.functions, self.making.toolbox
        self.agents = self.making.pool
        self.turns = Turns(
            store,
            self.agents,
            times,
            content_limit=settings.max_content_bytes,
            most=settings.max_turns,
            hooks=self.hooks,
            observers=self.observers,
        )
        self.subscriptions = Places(settings.max_space_subscriptions, "subscriptions")
        self.imports = Places(settings.max_imports, "imports")
        self.sockets = Places(settings.max_space_subscriptions, "WebSockets")
        self.watch = Watch(store, settings.event_seconds)
        self.scheduler = Scheduler(
            store,
            {TaskKind.CONSOLIDATE: self._consolidate, TaskKind.INTEGRATE: self._integrate},
            TaskTimes(
                interval=settings.scheduler_seconds,
                lease=settings.lease_seconds,
                retry=settings.task_retry_seconds,
                at_once=settings.max_tasks,
            ),
            self.observers,
        )
        self._background: list[asyncio.Task[object]] = []
        self._opening = Opening(self._open, self.aclose)

    async def open(self) -> None:
        """Brings the schema up to date where the settings say so, and starts looking for dead turns
        and for tasks that are due. Does nothing where it is open; where it fails the service is closed.

        Raises:
            StoreUnavailable: the store cannot be used, or its schema is old and not to be changed.
        """
        try:
            await self._opening.once()
        except BaseException:
            await self.aclose()
            raise

    async def ensure_open(self) -> None:
        """Opens it where nobody did, as the app does at its first request; a failure closes nothing.

        What is opened so is closed when the event loop ends, unless `aclose` did it before.
        """
        await self._opening.lazily()

    async def _open(self) -> None:
        await self._prepare_store()
        self._background = [
            asyncio.create_task(self.turns.keep_house()),
            asyncio.create_task(self.scheduler.keep_house()),
            asyncio.create_task(self.agents.keep_house()),
            asyncio.create_task(keep_pruned(self.store, self.settings.event_days)),
            asyncio.create_task(self.sweeper.keep_house()),
            asyncio.create_task(self.llm.connect()),
            asyncio.create_task(self.observers.keep_watch()),
            asyncio.create_task(keep_indexing(self.store)),
        ]

    async def aclose(self) -> None:
        """Gives running turns the grace period, cuts the rest legally, closes store and model for good."""
        await self._opening.end()
        for task in self._background:
            task.cancel()
        await asyncio.gather(*self._background, return_exceptions=True)
        await self.scheduler.stop()
        await self.turns.stop(self.settings.grace)
        await self.agents.aclose()
        await self.hooks.aclose()
        await self.llm.aclose()
        await self.keyring.aclose()
        await self.store.aclose()

    async def _consolidate(self, store: SpaceStore, session_id: str) -> object:
        limit = self.settings.max_content_bytes
        with self.hooks.failures("consolidate", store.space_id, session_id):
            async with self.making.now(store) as agent:
                return await consolidate_due(store, agent.llm, agent.functions, session_id, limit=limit)

    async def _integrate(self, store: SpaceStore, session_id: str) -> object:
        limit = self.settings.max_content_bytes
        with self.hooks.failures("integrate", store.space_id, session_id):
            async with self.making.now(store) as agent:
                return await integrate_due(store, agent.llm, agent.functions, session_id, limit=limit)

    @property
    def has_strays(self) -> bool:
        """Whether a tool or a function still runs that was told to stop and does not listen."""
        return bool(self.making.strays)

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.aclose()

    def space(self, space_id: str = DEFAULT_SPACE) -> "SpaceService":
        """Everything that can be done inside one Space."""
        return SpaceService(self, self.store.in_space(space_id))


class SpaceService(KnowledgeService, TopologyService, EventService, KeyService, SearchService):
    """What a caller can do inside one Space. All ids are of this Space; others do not exist."""

    def __init__(self, graph: StelloGraph, store: SpaceStore) -> None:
        self.graph = graph
        self.store = store
        self._book = graph.skills
        self._hooks = graph.hooks
        self._watch = graph.watch
        self._limit = graph.settings.max_content_bytes
        self._space_id = store.space_id

    @property
    def tools(self) -> tuple[ToolSpec, ...]:
        """All tools that the server can run."""
        return self.graph.toolbox.tools

    async def create_session(self, asked: CreateSession) -> Session:
        """A root, or an empty child. Inherits nothing of other sessions."""
        return await create_session(self.store, asked, self._limit)

    async def fork(self, asked: Fork, *, by_tool: bool = False, select: Select | None = None) -> Session:
        """Session, node, edges and inherited transcript in one transaction, or nothing.

        Args:
            by_tool: whether a model asks for it: the Space's SplitGuard tells these forks apart.
            select: chooses the context from the source's messages, in place of `asked.context`; a plain
                function runs in a thread.
        """
        async with self._agent() as agent:
            compress = agent.functions.compress
            made = await fork(
                self.store,
                agent.llm,
                asked,
                self._limit,
                by_tool=by_tool,
                compress=compress,
                select=None if select is None else self.graph.making.limited("select", select),
            )
        self._hooks.fire("on_session_fork", ForkEvent(self._space_id, made.id, asked.source_session_id))
        return made

    async def update_session(self, session_id: str, asked: UpdateSession) -> Session:
        """Changes the fields that are given."""
        return await update_session(self.store, session_id, asked, self._limit)

    async def delete(self, session_id: str, expected_count: int) -> list[str]:
        """Deletes a session with its subtree; running turns are cancelled first. Answers the ids."""
        check_range(expected_count, "expectedCount", 1)
        count, open_turns = await self.store.open_turns_below(check_id(session_id))
        if count == expected_count:
            await asyncio.gather(*(self._cancelled(turn_id) for turn_id in open_turns))
        return await self.store.delete_session(
            session_id, expected_count, self.graph.settings.max_deleted_sessions
        )

    async def trim(self, session_id: str, keep_last: int) -> Session:
        """Keeps the newest messages, whole tool groups only."""
        check_id(session_id)
        check_range(keep_last, "keepLast", 0)
        return await self._unless_dead(lambda: self.store.trim(session_id, keep_last))

    async def append(
        self, session_id: str, messages: Sequence[AppendedMessage], idempotency_key: str | None = None
    ) -> list[Message]:
        """Stores messages as they are, without the model."""
        check_id(session_id)
        drafts = append_drafts(messages, self._limit)
        given = {"sessionId": session_id, "messages": [m.model_dump(mode="json") for m in messages]}
        key = idempotency(idempotency_key, "appendMessages", given)
        first, last = await self._unless_dead(lambda: self.store.append(session_id, drafts, idempotency=key))
        page = await self.store.oldest_messages(
            [session_id], after=first - 1, before=last + 1, first=len(drafts), roles=None
        )
        return page[session_id]

    async def start_turn(self, asked: Send) -> Turn:
        """Begins a turn; follow it with `turn_events`."""
        return await self.graph.turns.start(self.store, asked)

    async def send(self, asked: Send) -> Turn:
        """Runs one turn to its end."""
        return await self.graph.turns.send(self.store, asked)

    async def cancel_turn(self, turn_id: str) -> Turn:
        """Cancels a turn, whichever process runs it."""
        return await self.graph.turns.cancel(self.store, turn_id)

    async def confirm(
        self, turn_id: str, tool_call_id: str, *, approve: bool, reason: str | None = None
    ) -> Turn:
        """Approves or refuses a tool call that waits; the turn goes on when none waits any more."""
        return await self.graph.turns.confirm(
            self.store, turn_id, tool_call_id, approve=approve, reason=reason or ""
        )

    def subscription(self) -> AbstractContextManager[None]:
        """One of the Space's places for subscriptions, for a block. Raises LimitExceeded, if none is free."""
        return self.graph.subscriptions.one(self._space_id)

    def turn_events(self, turn_id: str, after: int = 0) -> AsyncIterator[TurnEvent]:
        """What a turn emitted after number `after`, then live, up to its end."""
        return self.graph.turns.follow(self.store, turn_id, after)

    async def preview(self, session_id: str, content: str) -> Compiled:
        """What the model would see next."""
        check_text(content, "content", self._limit)
        async with self._agent() as agent:
            return await preview(self.store, agent.llm, agent.toolbox, check_id(session_id), content)

    async def put_memory(self, session_id: str, content: str) -> Session:
        """Writes the digest by hand."""
        return await put_memory(self.store, session_id, content, self._limit)

    async def put_insight(
        self, session_id: str, content: str, source_session_id: str | None = None
    ) -> Session:
        """Replaces the pending insight."""
        return await put_insight(self.store, session_id, content, source_session_id, self._limit)

    async def clear_insight(self, session_id: str) -> Session:
        """Clears the pending insight."""
        return await self.store.clear_insight(check_id(session_id))

    async def consolidate(self, session_id: str) -> Session:
        """L3 to L2, now."""
        async with self._agent() as agent:
            return await consolidate_now(
                self.store, agent.llm, agent.functions, session_id, limit=self._limit
            )

    async def put_insights(self, insights: Sequence[InsightDraft]) -> list[Session]:
        """Replaces the pending insights of several sessions, or of none; at most 1,000 at once."""
        return await put_insights(self.store, insights, self._limit)

    async def integrate(self, session_id: str, *, force: bool = False) -> Integration:
        """All L2 of a MAIN session's tree to its synthesis and to insights, in one transaction."""
        async with self._agent() as agent:
            return await integrate_now(
                self.store, agent.llm, agent.functions, session_id, force=force, limit=self._limit
            )

    async def compact(self, session_id: str, keep_last: int = 10) -> Session:
        """Compresses all but the newest messages, now."""
        async with self._agent() as agent:
            compress = agent.functions.compress
            return await self._unless_dead(
                lambda: compact_now(self.store, agent.llm, session_id, keep_last, compress)
            )

    async def configure(self, changes: SpaceChanges) -> Space:
        """Changes the Space's settings that are given."""
        space = await configure(self.store, changes, self._limit)
        self.graph.agents.refresh(self._space_id)
        return space

    def _agent(self) -> AbstractAsyncContextManager[Agent]:
        return self.graph.making.now(self.store)

    async def _cancelled(self, turn_id: str) -> None:
        with contextlib.suppress(NotFound):
            await self.cancel_turn(turn_id)

    async def _unless_dead(self, write: Callable[[], Awaitable[T]]) -> T:
        """A session that a dead process holds is freed first."""
        try:
            return await write()
        except SessionBusy as busy:
            if await self.graph.turns.close_dead(self.store, busy.details["turnId"]) is None:
                raise
            return await write()
