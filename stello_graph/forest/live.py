"""A turn that runs in this process, as its followers see it."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence
from typing import Any, Self

from stello_graph.forest.endings import Progress
from stello_graph.forest.hook_runner import HookRunner
from stello_graph.forest.turn_events import replay
from stello_graph.forest.turn_hooks import TurnHooks
from stello_graph.model.context import Conversation
from stello_graph.model.message import Draft, Message, ToolCall
from stello_graph.model.turn import StopReason, ToolCallStarted, Turn, TurnEvent
from stello_graph.model.values import Usage
from stello_graph.model.writes import TurnBegun
from stello_graph.ports import SpaceStore
from stello_graph.session.context.compile import running_turn
from stello_graph.session.context.patches import Patch, patch_of
from stello_graph.session.context.text import is_blank

__all__ = ["LiveTurn"]


class LiveTurn:
    """The state of one running turn.

    Attributes:
        turn: as it is stored by now.
        hooks: told of what becomes of it.
        conversation: the transcript from before the turn.
        content: what the user said.
        patches: what came of it so far.
        written: what the turn has stored.
        results: by call, results of the current round that are not stored yet.
        usage: of its model calls so far.
        text: the reply as far as it was heard, in the current round.
        cut: why the turn is to stop, once somebody asked.
        cancelled: set with `cut`, for tools to see.
        lost: whether somebody else took over: nothing may be written any more.
        over: set once this process does no more for the turn: it ended, waits, or is lost.
    """

    def __init__(
        self,
        store: SpaceStore,
        turn: Turn,
        conversation: Conversation,
        content: str,
        *,
        patches: Sequence[Patch] = (),
        written: Sequence[Message],
        hooks: HookRunner,
    ) -> None:
        self.store = store
        self.hooks = TurnHooks(hooks, store.space_id, turn)
        self.turn = turn
        self.conversation = conversation
        self.content = content
        self.patches = list(patches)
        self.written = list(written)
        self.results = {str(draft.tool_call_id): draft for draft in turn.held_results}
        self.usage = turn.usage
        self.text, self._told = "", 0
        self.cut: StopReason | None = None
        self.cancelled = asyncio.Event()
        self.lost = False
        self.over = asyncio.Event()
        self.work: asyncio.Task[None] | None = None
        self._current: asyncio.Future[Any] | None = None
        self._log = replay(turn.model_copy(update={"partial": ""}), written)
        self._changed = asyncio.Event()

    @classmethod
    def begun(cls, store: SpaceStore, begun: TurnBegun, hooks: HookRunner) -> Self:
        """A turn that has just begun."""
        message = begun.user_message
        live = cls(store, begun.turn, begun.conversation, message.content, written=[message], hooks=hooks)
        live.hooks.received(message)
        return live

    @classmethod
    def resumed(
        cls,
        store: SpaceStore,
        turn: Turn,
        conversation: Conversation,
        written: Sequence[Message],
        hooks: HookRunner,
    ) -> Self:
        """A turn that has waited; `conversation` as it is stored now."""
        before, content, patches = running_turn(conversation, turn.first_seq)
        return cls(store, turn, before, content, patches=patches, written=written, hooks=hooks)

    @property
    def round(self) -> int:
        """The number of the current round, from 0."""
        return self.turn.tool_rounds

    @property
    def progress(self) -> Progress:
        """How far it has come."""
        return Progress(self.turn, self.written, self.results, self.text, self.usage)

    @property
    def calls(self) -> tuple[ToolCall, ...]:
        """The calls of the current round that have no stored result; those of the newest message."""
        return self.written[-1].tool_calls

    def on_text(self, text: str) -> None:
        """The model said something."""
        self.text += text
        # A reply that breaks off while it is blank is not stored, so it must not be told either.
        if not is_blank(self.text):
            self._log.text(self.text[self._told :], self.round, _now())
            self._told = len(self.text)
            self._wake()

    def said(self, usage: Usage) -> None:
        """A model call has come to its end."""
        self.usage += usage

    def started(self, calls: Sequence[ToolCall]) -> None:
        """Tools run that were approved; of the others the stored reply tells."""
        known = {event.tool_call.id for event in self._log.events if isinstance(event, ToolCallStarted)}
        for call in calls:
            if call.id not in known:
                self._log.started(call, self.round, _now())
        self._wake()

    def finished(self, result: Draft) -> None:
        """A call has its result, told in the order of the calls."""
        self._log.finished(result, self.round, _now())
        self.hooks.result(next(call for call in self.calls if call.id == result.tool_call_id), result)
        self._wake()

    def stored(self, turn: Turn, messages: Sequence[Message]) -> None:
        """Messages of the turn were stored in the middle of it."""
        round = self.round
        self.turn = turn
        self.hooks.stored(messages)
        if turn.tool_rounds > round:
            self.hooks.round_ends(round)
        self.text, self._told = "", 0
        self.results = {}
        self.written += messages
        self.patches += map(patch_of, messages)
        self._catch_up()

    def waits(self, turn: Turn) -> None:
        """The turn waits for a confirmation, and nobody holds it."""
        self.turn = turn
        self.over.set()
        self._catch_up()

    def finish(self, turn: Turn | None, messages: Sequence[Message] = ()) -> None:
        """The turn is over; None where this process lost it."""
        self.lost = turn is None
        if turn is not None:
            self.turn = turn
            self.written += messages
            self.hooks.stored(messages)
            self.hooks.round_ends(turn.tool_rounds)
        self.over.set()
        self._catch_up()

    def stop(self, why: StopReason) -> None:
        """Cuts off what the turn does; it ends legally."""
        self.cut = self.cut or why
        self.cancelled.set()
        if self._current is not None:
            self._current.cancel()

    def working_on(self, work: asyncio.Future[Any] | None) -> None:
        """What `stop` cancels: a model call, or tools."""
        self._current = work
        if work is not None and self.cut is not None:
            work.cancel()

    async def follow(self) -> AsyncIterator[Sequence[TurnEvent]]:
        """The events so far, then the new ones whenever there are some, up to the last that is known here."""
        known = 0
        while True:
            changed, events = self._changed, self._log.events[known:]
            known += len(events)
            yield events
            if self.over.is_set():
                return
            await changed.wait()

    def _catch_up(self) -> None:
        """Tells what is stored by now and was not told as it happened."""
        if not self.lost:
            self._log.catch_up(replay(self.turn, self.written))
        self._wake()

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()


def _now() -> int:
    """UTC microseconds."""
    return time.time_ns() // 1_000
