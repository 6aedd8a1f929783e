"""A turn that runs in this process, as its followers see it."""

import asyncio
import time
from collections.abc import AsyncIterator, Sequence

from stello_graph.forest.turn_events import EventLog
from stello_graph.model.message import Message
from stello_graph.model.turn import StopReason, Turn, TurnEvent
from stello_graph.model.writes import TurnBegun
from stello_graph.ports import SpaceStore

__all__ = ["LiveTurn"]


class LiveTurn:
    """The state of one running turn.

    Attributes:
        text: the reply as far as it was heard, in the current round.
        cut: why the turn is to stop, once somebody asked.
        lost: whether somebody else took over: nothing may be written any more.
        ended: the turn as it was stored at its end.
    """

    def __init__(self, store: SpaceStore, begun: TurnBegun) -> None:
        self.store = store
        self.begun = begun
        self.text = ""
        self.round = 0
        self.cut: StopReason | None = None
        self.lost = False
        self.ended: Turn | None = None
        self.over = asyncio.Event()
        self.work: asyncio.Task[None] | None = None
        self._model_call: asyncio.Task[object] | None = None
        self._log = EventLog(begun.turn)
        self._changed = asyncio.Event()
        self._log.stored(begun.user_message)

    @property
    def turn(self) -> Turn:
        """The turn as it is known here."""
        return self.ended or self.begun.turn

    def on_text(self, text: str) -> None:
        """The model said something."""
        self.text += text
        self._log.text(text, self.round, time.time_ns() // 1_000)
        self._wake()

    def stored(self, message: Message) -> None:
        """A message of the turn was stored."""
        self._log.stored(message)
        self._wake()

    def finish(self, ended: Turn | None) -> None:
        """The turn is over; None where this process lost it."""
        self.ended = ended
        self.lost = ended is None
        if ended is not None:
            self._log.ended(ended)
        self.over.set()
        self._wake()

    def stop(self, why: StopReason) -> None:
        """Cuts the model call off; the turn ends legally."""
        self.cut = self.cut or why
        if self._model_call is not None:
            self._model_call.cancel()

    def working_on(self, call: asyncio.Task[object] | None) -> None:
        """The model call that `stop` cancels."""
        self._model_call = call
        if call is not None and self.cut is not None:
            call.cancel()

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

    def _wake(self) -> None:
        changed, self._changed = self._changed, asyncio.Event()
        changed.set()
