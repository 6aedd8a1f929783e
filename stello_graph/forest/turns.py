"""Turns: begun, run and ended here; followed, cancelled and closed from any process."""

import asyncio
import contextlib
import logging
import math
import random
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextvars import ContextVar
from types import MappingProxyType

from stello_graph.errors import (
    InvalidInput,
    ModelError,
    NotFound,
    SessionBusy,
    StelloError,
    StoreUnavailable,
)
from stello_graph.forest import endings
from stello_graph.forest.agent import Agent
from stello_graph.forest.agents import AgentPool
from stello_graph.forest.hook_runner import HookRunner
from stello_graph.forest.live import LiveTurn
from stello_graph.forest.queues import Queues
from stello_graph.forest.rounds import LeaseLost, Rounds, doing
from stello_graph.forest.slots import Slot, Slots, is_busy
from stello_graph.forest.storing import store_end, unknown_error
from stello_graph.forest.turn_events import after, replay
from stello_graph.forest.turn_times import TurnTimes
from stello_graph.ids import check_id, key_of, new_id
from stello_graph.model.checks import check_range, check_text, idempotency
from stello_graph.model.message import Draft, Message, MessageRole
from stello_graph.model.requests import Send, WhenBusy
from stello_graph.model.turn import (
    MessageStored,
    StopReason,
    Turn,
    TurnEnded,
    TurnError,
    TurnEvent,
    TurnStatus,
)
from stello_graph.model.writes import TurnBegun, TurnEnd, TurnExpired, TurnJoined
from stello_graph.outliving import outliving
from stello_graph.ports import SpaceStore, Store
from stello_graph.ports.answers import leave_answer
from stello_graph.ports.observing import Kind, Observers

__all__ = ["Turns"]

MAX_REASON = 4_000

# The turns in whose tools the current task runs, by the key of their session.
_HELD: ContextVar[Mapping[str, LiveTurn]] = ContextVar("_HELD", default=MappingProxyType({}))

logger = logging.getLogger(__name__)


class Turns:
    """All turns of this process, of whatever Space."""

    def __init__(
        self,
        store: Store,
        agents: AgentPool[Agent],
        times: TurnTimes,
        *,
        content_limit: int,
        most: int,
        hooks: HookRunner,
        observers: Observers | None = None,
    ) -> None:
        self._store = store
        self._observers = observers or Observers()
        self._times = times
        self._pause = min(1.0, times.renew)
        self._hooks = hooks
        self._agents = agents
        self._content_limit = content_limit
        self._live: dict[str, LiveTurn] = {}
        self._queues = Queues()
        self._slots = Slots(most)
        self._deadline = math.inf

    async def start(self, store: SpaceStore, asked: Send) -> Turn:
        """Begins a turn; it goes on by itself.

        Raises:
            SessionBusy: at once with REJECT, else after the queue's timeout.
            LimitExceeded: too many turns of the Space run in this process.
        """
        check_id(asked.session_id, "sessionId")
        check_text(asked.content, "content", self._content_limit)
        check_range(asked.queue_timeout_ms, "queueTimeoutMs", 0, 3_600_000)
        if asked.max_tool_rounds is not None:
            check_range(asked.max_tool_rounds, "maxToolRounds", 0, 100)
        if not asked.content.strip():
            raise InvalidInput("content says something")
        holder = _HELD.get().get(key_of(store.space_id, asked.session_id))
        if holder is not None and not holder.over.is_set():
            raise SessionBusy(
                f'turn "{holder.turn.id}" of this session waits for the tool that would send to it',
                turnId=holder.turn.id,
            )
        return await self._begin_in_turn(store, asked)

    async def send(self, store: SpaceStore, asked: Send) -> Turn:
        """Begins a turn, or joins it, and waits for its end."""
        turn = await self.start(store, asked)
        return await self.ended(store, turn)

    async def ended(self, store: SpaceStore, turn: Turn) -> Turn:
        """Waits until a turn no longer runs."""
        live = self._live.get(key_of(store.space_id, turn.id))
        if live is not None:
            await live.over.wait()
            if not live.lost:
                return live.turn
        while turn.status is TurnStatus.RUNNING:
            await asyncio.sleep(self._times.follow)
            turn = await self._stored(store, turn.id)
        return turn

    async def cancel(self, store: SpaceStore, turn_id: str) -> Turn:
        """Asks for the end of a turn and waits for it as long as its holder may take to hear of it."""
        turn = await store.cancel_turn(check_id(turn_id))
        live = self._live.get(key_of(store.space_id, turn_id))
        if live is not None:
            live.stop(StopReason.CANCELLED)
        if not turn.is_open:
            return turn
        if turn.status is TurnStatus.AWAITING_CONFIRMATION:
            return await self.close_dead(store, turn_id) or await self._stored(store, turn_id)
        try:
            async with asyncio.timeout(self._times.heard(here=live is not None)):
                return await self.ended(store, turn)
        except TimeoutError:
            return await self.close_dead(store, turn_id) or await self._stored(store, turn_id)

    async def confirm(
        self, store: SpaceStore, turn_id: str, tool_call_id: str, *, approve: bool, reason: str
    ) -> Turn:
        """Approves or refuses a call; the turn goes on in this process when none waits any more."""
        check_id(turn_id, "turnId")
        check_text(tool_call_id, "toolCallId", MAX_REASON)
        check_text(reason, "reason", MAX_REASON)

        async def answer() -> Turn:
            with self._slots.one(store.space_id, busy=False) as slot:
                turn, resumed = await store.confirm_call(
                    turn_id, tool_call_id, approve=approve, reason=reason, lease=self._times.lease
                )
                if not resumed:
                    return turn
                conversation = await store.conversation(turn.session_id)
                written = (await store.turn_messages([turn_id])).get(turn_id, [])
                return self._launch(LiveTurn.resumed(store, turn, conversation, written, self._hooks), slot)

        return await outliving(asyncio.create_task(answer()))

    async def follow(self, store: SpaceStore, turn_id: str, seq: int) -> AsyncIterator[TurnEvent]:
        """What a turn emitted after number `seq`, then what it emits, up to its end."""
        await self._stored(store, check_id(turn_id))
        told: set[str] = set()
        async for events in self._known_events(store, turn_id):
            for event in after(events, seq, told):
                seq = max(seq, event.seq)
                if isinstance(event, MessageStored):
                    told.add(event.message.id)
                yield event
                if isinstance(event, TurnEnded):
                    return

    async def close_dead(self, store: SpaceStore, turn_id: str) -> Turn | None:
        """Closes a turn whose lease ran out; None where it lives, or is closed already."""
        turn = (await store.turns([turn_id])).get(turn_id)
        if turn is None or not turn.is_open:
            return None
        written = (await store.turn_messages([turn_id])).get(turn_id, [])
        ended = await store.end_turn(endings.closed(turn, written))
        return None if ended is None else ended[0]

    async def close_dead_turns(self) -> int:
        """Closes all turns whose lease ran out, of every Space; answers how many."""
        closed = 0
        for space_id, turn_id in await self._store.expired_turns(100):
            try:
                closed += await self.close_dead(self._store.in_space(space_id), turn_id) is not None
            except StoreUnavailable:
                raise
            except Exception:
                # One that cannot be closed keeps no other open.
                logger.exception("turn %s could not be closed", turn_id)
        return closed

    async def keep_house(self) -> None:
        """Looks for dead turns for ever, whatever fails meanwhile."""
        while True:
            try:
                await self.close_dead_turns()
            except StelloError as error:
                logger.warning("dead turns could not be looked for: %s", error.message)
            except Exception:
                logger.exception("dead turns could not be looked for")
            await asyncio.sleep(self._times.janitor * random.uniform(0.8, 1.2))

    async def stop(self, grace: float) -> None:
        """Gives running turns `grace` seconds, then cuts them legally, and waits for that.

        A second call does not prolong the first. What begins meanwhile, from a queue, is cut with the rest.
        """
        now = asyncio.get_running_loop().time
        self._deadline = min(self._deadline, now() + grace)
        while running := self._running():
            if (left := self._deadline - now()) > 0:
                await asyncio.wait(running, timeout=left)
                continue
            for live in list(self._live.values()):
                live.stop(StopReason.INTERRUPTED)
            await asyncio.wait(running)

    def _running(self) -> list[asyncio.Task[None]]:
        works = (live.work for live in self._live.values())
        return [work for work in works if work is not None and not work.done()]

    async def _known_events(self, store: SpaceStore, turn_id: str) -> AsyncIterator[Sequence[TurnEvent]]:
        """A turn's events as they happen here; else all so far as they are stored, again and again."""
        while True:
            live = self._live.get(key_of(store.space_id, turn_id))
            if live is not None:
                async for events in live.follow():
                    yield events
            turn = await self._stored(store, turn_id)
            yield replay(turn, (await store.turn_messages([turn_id])).get(turn_id, [])).events
            await asyncio.sleep(self._times.follow)

    async def _begin_in_turn(self, store: SpaceStore, asked: Send) -> Turn:
        """First come, first served inside this process; across processes by jittered polling."""
        begin = self._beginning(store, asked)
        if asked.when_busy is WhenBusy.REJECT:
            return await begin()
        loop, busy = asyncio.get_running_loop(), None
        deadline = loop.time() + asked.queue_timeout_ms / 1_000
        interrupts = asked.when_busy is WhenBusy.INTERRUPT
        try:
            key = key_of(store.space_id, asked.session_id)
            async with self._queues.first(key, deadline, urgent=interrupts) as its_turn:
                while True:
                    async with asyncio.timeout_at(deadline):
                        await its_turn()
                    try:
                        return await begin()
                    except SessionBusy as error:
                        busy = error
                    async with asyncio.timeout_at(deadline):
                        await self._until_free(store, busy.details["turnId"], interrupts)
                    interrupts = False
        except TimeoutError:
            raise busy or SessionBusy(f'many wait for session "{asked.session_id}"') from None

    def _beginning(self, store: SpaceStore, asked: Send) -> Callable[[], Awaitable[Turn]]:
        """How to try once to begin a turn. What began goes on, whatever becomes of the caller."""
        given = {"sessionId": asked.session_id, "content": asked.content}
        key = idempotency(asked.idempotency_key, "send", given)
        turn_id = new_id()
        draft = Draft(id=new_id(), role=MessageRole.USER, content=asked.content, turn_id=turn_id)

        async def attempt() -> Turn:
            busy = is_busy(self._live.values(), store, asked.session_id)
            full = not busy and self._slots.are_taken(store.space_id)
            if full and key is not None and (known := await store.turn_of_key(key)) is not None:
                return known
            with self._slots.one(store.space_id, busy=busy) as slot:
                while True:
                    begun = await store.begin_turn(
                        asked.session_id,
                        turn_id,
                        draft,
                        lease=self._times.lease,
                        max_tool_rounds=asked.max_tool_rounds,
                        idempotency=key,
                    )
                    match begun:
                        case TurnJoined():
                            return begun.turn
                        case TurnExpired():
                            await self.close_dead(store, begun.turn.id)
                        case TurnBegun():
                            return self._launch(LiveTurn.begun(store, begun, self._hooks), slot)

        return lambda: outliving(asyncio.create_task(attempt()))

    def _launch(self, live: LiveTurn, slot: Slot) -> Turn:
        self._live[key_of(live.store.space_id, live.turn.id)] = live
        if asyncio.get_running_loop().time() >= self._deadline:
            live.stop(StopReason.INTERRUPTED)
        live.work = asyncio.create_task(self._watched(live))
        slot.keep_until(live.over, live.work)
        return live.turn

    async def _until_free(self, store: SpaceStore, turn_id: str, interrupts: bool) -> None:
        """Waits for a turn of this process, or a moment for one of another."""
        if interrupts:
            with contextlib.suppress(NotFound):
                await self.cancel(store, turn_id)
            return
        live = self._live.get(key_of(store.space_id, turn_id))
        if live is not None:
            await live.over.wait()
        else:
            await asyncio.sleep(self._times.follow * random.uniform(0.2, 1.0))

    async def _watched(self, live: LiveTurn) -> None:
        leave_answer()
        ids, facts = {"space": live.store.space_id, "turn": live.turn.id}, {"session": live.turn.session_id}
        with self._observers.watch(Kind.TURN, "turn", ids=ids, facts=facts) as work:
            try:
                await self._run(live)
            finally:
                work.outcome = "LOST" if live.lost else live.turn.status
                if live.turn.stop_reason is not None:
                    work.facts["stop"] = live.turn.stop_reason

    async def _run(self, live: LiveTurn) -> None:
        key = key_of(live.store.space_id, live.turn.session_id)
        _HELD.set({**_HELD.get(), key: live})
        renewals = asyncio.create_task(self._renew(live))
        try:
            end = await self._converse(live)
        except asyncio.CancelledError:
            cut = endings.cut(live.progress, live.cut or StopReason.INTERRUPTED)
            await asyncio.shield(asyncio.create_task(self._end(live, cut)))
            raise
        finally:
            renewals.cancel()
        await self._end(live, end)

    async def _converse(self, live: LiveTurn) -> TurnEnd | None:
        """How the turn ends; None where it waits now, or is lost."""
        try:
            async with contextlib.AsyncExitStack() as stack:
                held = self._agents.agent(live.store.space_id, revision=live.conversation.space_revision)
                agent = await doing(live, stack.enter_async_context(held))
                rounds = Rounds(agent, lease=self._times.lease, pause=self._pause)
                return await rounds.converse(live)
        except LeaseLost:
            live.lost = True
            return None
        except ModelError as error:
            live.hooks.failed(error)
            told = TurnError(code=error.code, message=error.message, retryable=error.retryable)
            return endings.failed(live.progress, told)
        except asyncio.CancelledError:
            if live.cut is None:
                raise
            return endings.cut(live.progress, live.cut)
        except Exception as error:
            logger.exception("turn %s failed", live.turn.id)
            live.hooks.failed(error)
            return endings.failed(live.progress, unknown_error(live.turn))

    async def _renew(self, live: LiveTurn) -> None:
        """Renews the lease and stores the text so far, until the turn ends or is lost."""
        while True:
            await asyncio.sleep(self._times.renew)
            try:
                cancelled = await live.store.renew_turn(
                    live.turn, lease=self._times.lease, partial=live.text, round=live.round
                )
            except StelloError as error:
                logger.warning("turn %s could not be renewed: %s", live.turn.id, error.message)
                continue
            except Exception:
                logger.exception("turn %s could not be renewed", live.turn.id)
                continue
            if cancelled is None and not live.over.is_set():
                live.lost = True
                live.stop(StopReason.INTERRUPTED)
                return
            if cancelled:
                live.stop(StopReason.CANCELLED)

    async def _end(self, live: LiveTurn, end: TurnEnd | None) -> None:
        """Stores the end, and lets go of the turn."""
        ended: tuple[Turn, list[Message]] | None = None
        if end is not None and not live.lost:
            ended = await store_end(live, end, patience=self._times.lease, pause=self._pause)
        if end is not None or live.lost:
            live.finish(*(ended or (None,)))
        key = key_of(live.store.space_id, live.turn.id)
        # A turn that waited may run again already, here as well.
        if self._live.get(key) is live:
            del self._live[key]

    async def _stored(self, store: SpaceStore, turn_id: str) -> Turn:
        found = (await store.turns([turn_id])).get(turn_id)
        if found is None:
            raise NotFound.of("turn", turn_id)
        return found
