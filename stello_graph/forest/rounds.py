"""The rounds of one turn: ask the model, store what it said, run its tools, store their results, again."""

import asyncio
import logging
from collections.abc import Awaitable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from stello_graph.forest import endings
from stello_graph.forest.agent import Agent
from stello_graph.forest.fitting import fitted
from stello_graph.forest.live import LiveTurn
from stello_graph.forest.storing import until_stored
from stello_graph.forest.tools.port import CallContext, ToolOutput
from stello_graph.forest.tools.toolbox import result_of
from stello_graph.ids import new_id
from stello_graph.model.context import ModelRequest, Reply, ReplyStop, ToolSpec
from stello_graph.model.message import Draft, MessageRole, MessageState, ToolCall
from stello_graph.model.turn import StopReason, TurnStatus
from stello_graph.model.writes import TurnEnd
from stello_graph.session import call as model_call
from stello_graph.session.context.closing import cancelled_results
from stello_graph.session.model_choice import model_of

__all__ = ["LeaseLost", "Rounds", "doing"]

logger = logging.getLogger(__name__)

T = TypeVar("T")

_CUT = "the reply was cut off inside its tool calls, so none of them ran. Say it with fewer or shorter calls."
_NO_MORE = "no more tools run in this turn."
# How long a tool may go on after it was told to stop, in seconds.
_LAST_WORDS = 1.0
_STOPS = {
    ReplyStop.END_TURN: StopReason.END_TURN,
    ReplyStop.TOOL_USE: StopReason.END_TURN,
    ReplyStop.MAX_TOKENS: StopReason.MAX_TOKENS,
    ReplyStop.REFUSAL: StopReason.REFUSAL,
}


class LeaseLost(Exception):
    """Somebody else holds the turn: nothing may be written any more."""


@dataclass(frozen=True, slots=True)
class Rounds:
    """What the rounds of a turn need.

    Attributes:
        agent: what its Space works with.
        lease: seconds for which each write renews a turn's lease.
        pause: seconds between attempts to write where the store is away.
    """

    agent: Agent
    lease: float
    pause: float

    async def converse(self, live: LiveTurn) -> TurnEnd | None:
        """Runs a turn from where it is to its end.

        Returns:
            How it ends; None where it waits for a confirmation now.

        Raises:
            ModelError: the model failed.
            LeaseLost: somebody else took over.
            CancelledError: the turn was told to stop.
        """
        tools = self.agent.toolbox.offered(live.conversation)
        if live.turn.confirm_ids and not await self._run_asked(live, tools):
            return None
        while True:
            live.hooks.round_starts(live.round)
            concluding = live.round >= self._limit(live)
            reply = await self._ask(live, tools, concluding)
            said = _draft(live, reply)
            if reply.stop is ReplyStop.MAX_TOKENS and reply.tool_calls:
                results = cancelled_results(reply.tool_calls, _CUT, new_id=new_id, turn_id=live.turn.id)
                if concluding or _was_cut(live):
                    return endings.completed(live.progress, (*said, *results), StopReason.MAX_TOKENS)
                await self._store(live, (*said, *results), rounds=1)
            elif concluding or not reply.tool_calls or reply.stop is ReplyStop.REFUSAL:
                results = cancelled_results(reply.tool_calls, _NO_MORE, new_id=new_id, turn_id=live.turn.id)
                return endings.completed(live.progress, (*said, *results), _stop(live, reply, concluding))
            else:
                await self._store(live, said, asks=_asks(reply.tool_calls, tools))
                if not await self._run_tools(live, tools):
                    return None

    def _limit(self, live: LiveTurn) -> int:
        asked = live.turn.max_tool_rounds
        return live.conversation.config.max_tool_rounds if asked is None else asked

    async def _ask(self, live: LiveTurn, tools: Sequence[ToolSpec], concluding: bool) -> Reply:
        """The model's next reply. The concluding request has the tools too: the transcript names them."""
        conversation = live.conversation
        request_of = fitted(
            live.store,
            self.agent.llm,
            live.turn,
            conversation,
            live.content,
            insight=live.turn.insight,
            patches=live.patches,
            tools=tools,
            compress=self.agent.functions.compress,
        )
        made = await doing(live, request_of)
        live.patches = list(made.patches)
        compiled = made.compiled
        request = ModelRequest(
            model=model_of(conversation, self.agent.llm),
            messages=compiled.messages,
            tools=compiled.tools,
            tool_choice="none" if concluding and compiled.tools else "auto",
            max_output_tokens=max(1, min(conversation.config.max_output_tokens, made.room)),
        )
        reply = await doing(live, model_call.call(self.agent.llm, request, on_text=live.on_text))
        live.said(reply.usage)
        return reply.model_copy(update={"tool_calls": _unique(reply.tool_calls, live)})

    async def _store(
        self, live: LiveTurn, messages: Sequence[Draft], *, rounds: int = 0, asks: Sequence[ToolCall] = ()
    ) -> None:
        stored = await until_stored(
            live,
            lambda: live.store.store_messages(
                live.turn,
                messages,
                lease=self.lease,
                usage=live.usage,
                tool_rounds=live.round + rounds,
                asks=asks,
            ),
            patience=self.lease,
            pause=self.pause,
        )
        if stored is None:
            raise LeaseLost
        live.stored(*stored)

    async def _run_tools(self, live: LiveTurn, tools: Sequence[ToolSpec]) -> bool:
        """Runs the calls of a stored reply; answers whether all of them have their results now."""
        asked = [call for call in live.calls if call.id in live.turn.confirm_ids]
        await self._execute(live, [call for call in live.calls if call not in asked], tools)
        if not asked:
            await self._store(live, _in_order(live), rounds=1)
            return True
        turn = await until_stored(
            live,
            lambda: live.store.wait_turn(live.turn, _in_order(live)),
            patience=self.lease,
            pause=self.pause,
        )
        if turn is None:
            raise LeaseLost
        if turn.status is TurnStatus.AWAITING_CONFIRMATION:
            live.waits(turn)
            return False
        live.turn = turn
        if turn.cancel_requested:
            live.stop(StopReason.CANCELLED)
        return await self._run_asked(live, tools)

    async def _run_asked(self, live: LiveTurn, tools: Sequence[ToolSpec]) -> bool:
        """Runs the calls that were approved, once all are answered."""
        turn = live.turn
        refusals = dict(zip(turn.refused_ids, turn.refusals, strict=True))
        for call in live.calls:
            if call.id in refusals:
                why = f": {refusals[call.id]}" if refusals[call.id] else "."
                output = ToolOutput(content=f"The user refused this call{why}", is_error=True)
                live.results[call.id] = result_of(call, output, turn_id=turn.id)
        approved = [call for call in live.calls if call.id in turn.approved_ids]
        live.started(approved)
        await self._execute(live, approved, tools)
        await self._store(live, _in_order(live), rounds=1)
        return True

    async def _execute(self, live: LiveTurn, calls: Sequence[ToolCall], tools: Sequence[ToolSpec]) -> None:
        """Runs calls side by side. What has come in when the turn is stopped is kept in `live.results`."""
        if live.cut is not None:
            # What was told to stop does nothing more, not for a second either.
            raise asyncio.CancelledError
        live.hooks.calls(calls)
        running = [asyncio.create_task(self._run(live, call, tools)) for call in calls]
        try:
            await doing(live, _told(live, running))
        except asyncio.CancelledError:
            if running:
                await asyncio.wait(running, timeout=_LAST_WORDS)
            raise
        finally:
            for task in running:
                task.cancel()
            for result in _results_of(running):
                live.results[str(result.tool_call_id)] = result

    async def _run(self, live: LiveTurn, call: ToolCall, tools: Sequence[ToolSpec]) -> Draft:
        context = CallContext(
            store=live.store,
            session_id=live.turn.session_id,
            turn_id=live.turn.id,
            tool_call_id=call.id,
            cancelled=live.cancelled,
        )
        return await self.agent.toolbox.run(call, tools, context)


async def doing(live: LiveTurn, work: Awaitable[T]) -> T:
    """Awaits what `live.stop` can cancel. The turn is told to stop by that, not this task."""
    task = asyncio.ensure_future(work)
    live.working_on(task)
    try:
        return await task
    finally:
        live.working_on(None)
        task.cancel()


async def _told(live: LiveTurn, running: Sequence[asyncio.Task[Draft]]) -> None:
    """Tells of each result in the order of the calls, as soon as those before it are there."""
    for task in running:
        live.finished(await asyncio.shield(task))


def _results_of(tasks: Iterable[asyncio.Task[Draft]]) -> list[Draft]:
    return [task.result() for task in tasks if task.done() and not task.cancelled()]


def _draft(live: LiveTurn, reply: Reply) -> tuple[Draft, ...]:
    """The reply as a message; none where the model said nothing at all."""
    if not (reply.text or reply.tool_calls or reply.parts):
        return ()
    return (
        Draft(
            id=new_id(),
            role=MessageRole.ASSISTANT,
            content=reply.text,
            parts=reply.parts,
            state=MessageState.TRUNCATED if reply.stop is ReplyStop.MAX_TOKENS else MessageState.COMPLETE,
            tool_calls=reply.tool_calls,
            model=reply.model,
            usage=reply.usage,
            turn_id=live.turn.id,
        ),
    )


def _stop(live: LiveTurn, reply: Reply, concluding: bool) -> StopReason:
    if concluding and live.round and reply.stop in (ReplyStop.END_TURN, ReplyStop.TOOL_USE):
        return StopReason.MAX_TOOL_ROUNDS
    return _STOPS[reply.stop]


def _was_cut(live: LiveTurn) -> bool:
    """Whether the reply before was cut inside its calls."""
    replies = [message for message in live.written if message.role is MessageRole.ASSISTANT]
    return bool(replies) and replies[-1].state is MessageState.TRUNCATED


def _asks(calls: Sequence[ToolCall], tools: Sequence[ToolSpec]) -> list[ToolCall]:
    asking = {tool.name for tool in tools if tool.needs_confirmation}
    return [call for call in calls if call.name in asking]


def _in_order(live: LiveTurn) -> list[Draft]:
    """The results that are there, in the order of the calls."""
    return [live.results[call.id] for call in live.calls if call.id in live.results]


def _unique(calls: Sequence[ToolCall], live: LiveTurn) -> tuple[ToolCall, ...]:
    """Calls with ids that this turn has not used before: some providers count anew in each reply."""
    used = {call.id for message in live.written for call in message.tool_calls}
    fresh: list[ToolCall] = []
    for call in calls:
        id, number = call.id, 1
        while not id or id in used:
            number += 1
            id = f"{call.id or 'call'}_{number}"
        used.add(id)
        fresh.append(call if id == call.id else call.model_copy(update={"id": id}))
    return tuple(fresh)
