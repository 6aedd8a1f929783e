"""One walk: several processes on one Space, step by step, and what must be true after each."""

import asyncio
import contextlib
import itertools
from collections.abc import Awaitable, Sequence
from typing import Any, TypeVar

from stello_graph.errors import StelloError
from stello_graph.forest.turn_events import replay
from stello_graph.model.requests import AppendedMessage, CreateSession, Fork, Send, UpdateSession, WhenBusy
from stello_graph.model.session import SessionOverrides
from stello_graph.model.turn import StopReason, Turn, TurnEvent, TurnStatus
from stello_graph.model.values import ForkContext
from stello_graph.store.engine import Engine
from tests.conformance.walks.laws import check_heard, check_session, transcript
from tests.conformance.walks.model import Answer, Brain, StrictModel
from tests.conformance.walks.processes import Killed, Process
from tests.conformance.walks.steps import Step
from tests.conformance.walks.tools import tools

__all__ = ["Walk"]

T = TypeVar("T")

PATIENCE = 30.0


class Walk:
    """The state of a walk, as its callers know it.

    Attributes:
        kept: by session, the ids of messages that were acknowledged and not trimmed.
        turns: by session, the ids of the turns that are known.
        heard: by turn, what a follower of it heard.
    """

    def __init__(self, engine: Engine, space_id: str, answers: Sequence[Answer], lease: float) -> None:
        self._engine = engine
        self._space_id = space_id
        self._lease = lease
        self.brain = Brain(iter(answers))
        self.processes: list[Process] = []
        self.sessions: list[str] = []
        self.kept: dict[str, set[str]] = {}
        self.turns: dict[str, set[str]] = {}
        self.heard: dict[str, list[TurnEvent]] = {}
        self._followers: dict[str, asyncio.Task[None]] = {}
        self._trimmed: set[str] = set()
        self._numbers = itertools.count()
        self._surprises: list[str] = []

    async def run(self, steps: Sequence[Step]) -> None:
        """All steps, with the laws after each; then everything comes to rest, and can go on."""
        asyncio.get_running_loop().set_exception_handler(self._unheard)
        try:
            self.processes = [await self._opened() for _ in range(3)]
            await self._made(await self.processes[0].space.create_session(CreateSession(id="s0", label="S")))
            for step in steps:
                await self._step(step)
                await self.check()
            await self.rest()
            await self.check()
            await self._go_on()
            await self.check()
        finally:
            self.brain.release()
            for task in self._followers.values():
                task.cancel()
            for process in self.processes:
                await process.aclose()
        assert not self._surprises, self._surprises

    def _unheard(self, _: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """What a task died of that nobody awaits: killed processes leave such tasks, nothing else may."""
        if not isinstance(context.get("exception"), Killed):
            self._surprises.append(repr(context))

    async def check(self) -> None:
        """The laws of all sessions, and that nothing acknowledged is lost."""
        process = await self._process(0)
        for id in self.sessions:
            # A process that dies while it looks has nothing to say.
            if (messages := await _survived(transcript(process.space.store, id))) is None:
                return
            stored = {message.id for message in messages}
            assert self.kept[id] <= stored, f"acknowledged and lost in {id}: {self.kept[id] - stored}"
            await _survived(check_session(process.space, id, sorted(self.turns[id]), self.brain))

    async def rest(self) -> None:
        """Lets all turns end; those that wait are cancelled. All that was heard is what is stored."""
        for process in self.processes:
            process.engine.kill()
        process = await self._process(0)
        for id in self.sessions:
            for turn_id in sorted(self.turns[id]):
                await self._until_over(process, turn_id)
        for turn_id, follower in self._followers.items():
            await asyncio.wait_for(follower, PATIENCE)
            turn = (await process.space.store.turns([turn_id]))[turn_id]
            written = (await process.space.store.turn_messages([turn_id])).get(turn_id, [])
            if turn.session_id not in self._trimmed:
                check_heard(self.heard[turn_id], replay(turn, written).events)
        self._followers.clear()

    async def _go_on(self) -> None:
        """Each session takes another turn, whatever happened to it."""
        process = await self._process(1)
        self.brain.answers = iter(())
        for id in self.sessions:
            turn = await self._another(process, id)
            # A machine that stands still for longer than a lease loses the turn, and only that.
            if turn.stop_reason is StopReason.INTERRUPTED:
                turn = await self._another(process, id)
            assert turn.status is TurnStatus.COMPLETED, turn

    async def _another(self, process: Process, session_id: str) -> Turn:
        sent = process.space.send(Send(session_id=session_id, content="Go on"))
        turn = await asyncio.wait_for(sent, PATIENCE)
        self._acknowledged(turn)
        return turn

    async def _until_over(self, process: Process, turn_id: str) -> None:
        async with asyncio.timeout(PATIENCE):
            while True:
                self.brain.release()
                turn = (await process.space.store.turns([turn_id]))[turn_id]
                if not turn.is_open:
                    return
                if turn.status is TurnStatus.AWAITING_CONFIRMATION:
                    await process.space.cancel_turn(turn_id)
                await asyncio.sleep(0.02)

    async def _step(self, step: Step) -> None:
        process = await self._process(step.process)
        session_id = self.sessions[step.session % len(self.sessions)]
        with contextlib.suppress(StelloError, Killed):
            work = getattr(self, f"_{step.kind}")(process, session_id, step.given)
            await asyncio.wait_for(process.do(work), PATIENCE)

    async def _process(self, number: int) -> Process:
        """The process of that number; a new one in its place where it was killed."""
        if self.processes[number].dead:
            self.processes[number] = await self._opened()
        return self.processes[number]

    async def _opened(self) -> Process:
        process = Process(self._engine, StrictModel(self.brain), tools(), self._space_id, self._lease)
        await process.open()
        return process

    async def _made(self, session: Any) -> None:
        self.sessions.append(session.id)
        self.kept[session.id] = set()
        self.turns[session.id] = set()

    def _acknowledged(self, turn: Turn) -> None:
        self.turns[turn.session_id].add(turn.id)

    async def _written(self, process: Process, turn: Turn) -> None:
        written = (await process.space.store.turn_messages([turn.id])).get(turn.id, [])
        self.kept[turn.session_id] |= {message.id for message in written if message.seq <= turn.last_seq}

    async def _send(self, process: Process, session_id: str, when_busy: WhenBusy) -> None:
        turn = await self._begun(process, session_id, when_busy=when_busy)
        ended = asyncio.create_task(process.graph.turns.ended(process.space.store, turn))
        while not ended.done():
            self.brain.release()
            await asyncio.wait({ended}, timeout=0.01)
        await self._written(process, await ended)

    async def _start(self, process: Process, session_id: str, key: str) -> None:
        await self._begun(process, session_id, idempotency_key=f"{session_id}-{key}" if key else None)
        await asyncio.sleep(0.01)

    async def _begun(self, process: Process, session_id: str, **more: Any) -> Turn:
        content = "Once" if more.get("idempotency_key") else f"Message {next(self._numbers)}"
        asked = Send(session_id=session_id, content=content, queue_timeout_ms=100, **more)
        turn = await process.space.start_turn(asked)
        self._acknowledged(turn)
        await self._written(process, turn)
        if turn.id not in self._followers and turn.id not in self.heard:
            self.heard[turn.id] = []
            self._followers[turn.id] = asyncio.create_task(self._follow(turn.id))
        return turn

    async def _follow(self, turn_id: str) -> None:
        """Follows a turn to its end, by another process where the one that is asked dies."""
        while True:
            process = next((one for one in self.processes if not one.dead), None)
            if process is None:
                await asyncio.sleep(0.01)
                continue
            with contextlib.suppress(Killed):
                return await process.do(self._listen(process, turn_id))

    async def _listen(self, process: Process, turn_id: str) -> None:
        heard = self.heard[turn_id]
        async for event in process.space.turn_events(turn_id, heard[-1].seq if heard else 0):
            if _is_new(event, heard):
                heard.append(event)

    async def _open_turn(self, process: Process, session_id: str) -> Turn | None:
        open_id = (await process.space.store.sessions([session_id]))[session_id].open_turn_id
        return None if open_id is None else (await process.space.store.turns([open_id])).get(open_id)

    async def _confirm(self, process: Process, session_id: str, approve: bool) -> None:
        turn = await self._open_turn(process, session_id)
        if turn is None:
            return
        for call in turn.pending_tool_calls:
            await process.space.confirm(turn.id, call.id, approve=approve, reason="because")

    async def _kill(self, process: Process, _: str, given: tuple[int, bool]) -> None:
        writes, committed = given
        process.engine.kill_at(writes, committed=committed)

    async def _release(self, process: Process, session_id: str, _: None) -> None:
        self.brain.release()
        await asyncio.sleep(0.02)

    async def _cancel(self, process: Process, session_id: str, _: None) -> None:
        turn = await self._open_turn(process, session_id)
        if turn is not None:
            await self._written(process, await process.space.cancel_turn(turn.id))

    async def _trim(self, process: Process, session_id: str, keep: int) -> None:
        self._trimmed.add(session_id)
        kept, known = self.kept[session_id], await transcript(process.space.store, session_id)
        # Where the process dies meanwhile, nobody knows what was trimmed.
        self.kept[session_id] = set()
        try:
            await process.space.trim(session_id, keep)
        except StelloError:
            self.kept[session_id] = kept
            raise
        left = await transcript(process.space.store, session_id)
        assert len(left) >= min(keep, len(known))
        self.kept[session_id] = kept & {message.id for message in left}

    async def _compact(self, process: Process, session_id: str, keep: int) -> None:
        await process.space.compact(session_id, keep)

    async def _append(self, process: Process, session_id: str, messages: tuple[AppendedMessage, ...]) -> None:
        stored = await process.space.append(session_id, messages)
        self.kept[session_id] |= {message.id for message in stored}

    async def _fork(self, process: Process, session_id: str, share: float) -> None:
        if len(self.sessions) >= 4:
            return
        messages = await transcript(process.space.store, session_id)
        through = messages[int(share * (len(messages) - 1))].seq if messages else None
        asked = Fork(
            source_session_id=session_id, label="F", context=ForkContext.INHERIT, through_seq=through
        )
        made = await process.space.fork(asked)
        await self._made(made)
        inherited = {message.id for message in await transcript(process.space.store, made.id)}
        self.kept[made.id] = inherited

    async def _choose(self, process: Process, session_id: str, model: str) -> None:
        changes = UpdateSession(overrides=SessionOverrides(model=model))
        await process.space.update_session(session_id, changes)

    async def _insight(self, process: Process, session_id: str, _: None) -> None:
        await process.space.put_insight(session_id, f"insight {next(self._numbers)}")


def _is_new(event: TurnEvent, heard: Sequence[TurnEvent]) -> bool:
    """Of an ended turn a new connection is told all messages again."""
    message = getattr(event, "message", None)
    return message is None or all(getattr(one, "message", None) != message for one in heard)


async def _survived(work: Awaitable[T]) -> T | None:
    try:
        return await work
    except Killed:
        return None
