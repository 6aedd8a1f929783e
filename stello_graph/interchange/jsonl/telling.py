"""Tells of one session, with its turns and messages, as it was at one moment."""

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from typing import Final

from stello_graph.interchange.jsonl.export_report import ExportReport
from stello_graph.interchange.jsonl.lines import (
    Kind,
    interrupted,
    message_line,
    session_line,
    shared_line,
    turn_line,
)
from stello_graph.interchange.jsonl.pace import Pace
from stello_graph.interchange.jsonl.tellers import Tellers
from stello_graph.model.copies import MessageCopy, SessionCopy
from stello_graph.model.turn import Turn
from stello_graph.ports import SpaceStore

__all__ = ["Begun", "Changed", "Part", "Telling"]

_MORE: Final = 200
_FEW: Final = 20


class Changed(Exception):
    """A session does not have any more, or does not show yet, what it had when it was read."""


@dataclass(frozen=True, slots=True)
class Begun:
    """A session with its first messages and turns, as far as they are read."""

    copy: SessionCopy
    messages: Sequence[MessageCopy] = ()
    turns: Sequence[Turn] = ()


@dataclass(frozen=True, slots=True)
class Part:
    """A session and what is below it. Its root has nothing above."""

    root_id: str
    members: frozenset[str]


class Telling:
    """The telling of one session.

    Attributes:
        report: counts what is told.
    """

    def __init__(self, store: SpaceStore, begun: Begun, tellers: Tellers, part: Part | None) -> None:
        self.report = ExportReport()
        self._store = store
        self._begun = begun
        self._copy = begun.copy
        self._tellers = tellers
        self._part = part

    async def lines(self) -> AsyncIterator[bytes]:
        """The session, its turns, its messages.

        Raises:
            Changed: it was trimmed or deleted meanwhile; what was told of it has no meaning.
        """
        self.report.told[Kind.SESSION] += 1
        yield session_line(self._session())
        async for turn in self._turns():
            self.report.told[Kind.TURN] += 1
            yield turn_line(await self._ended(turn))
        async for message in self._messages():
            yield self._message(message)

    def _session(self) -> SessionCopy:
        copy, part = self._copy, self._part
        if part is None:
            return copy
        refs = tuple(ref for ref in copy.refs if ref.to_id in part.members)
        self.report.links_outside += len(copy.refs) - len(refs)
        if copy.id == part.root_id:
            return copy.model_copy(update={"refs": refs, "parent_id": None, "index": 0})
        return copy.model_copy(update={"refs": refs})

    def _message(self, message: MessageCopy) -> bytes:
        """In full, unless the file has it so already."""
        id = self._copy.id
        teller = self._tellers.teller_of(message.id, id) if message.is_shared else id
        if teller == id:
            self.report.told[Kind.MESSAGE] += 1
            return message_line(id, message)
        self.report.shared += 1
        return shared_line(id, message, teller)

    async def _ended(self, turn: Turn) -> Turn:
        """What ended after the session was read was not over at that moment."""
        next_seq = self._copy.next_seq
        if not turn.is_open and turn.last_seq < next_seq:
            return turn
        known = turn.model_copy(update={"last_seq": min(turn.last_seq, next_seq - 1)})
        if turn.is_open or turn.id == self._copy.open_turn_id:
            self.report.open_turns += 1
            return interrupted(known, self._copy.last_active_at)
        await self._check_end(turn)
        return known

    async def _check_end(self, turn: Turn) -> None:
        """Raises Changed where the session was read in the middle of the turn's end, or is gone."""
        found = await self._store.session_copies([self._copy.id])
        if not found or turn.last_seq < found[0].next_seq:
            raise Changed

    async def _turns(self) -> AsyncIterator[Turn]:
        last = self._copy.last_turn_number
        number, page = 1, [turn for turn in self._begun.turns if turn.number <= last]
        while number <= last:
            page = page or await self._turns_from(number)
            _check_all([turn.number for turn in page], number)
            for turn in page:
                yield turn
            number, page = number + len(page), []

    async def _turns_from(self, number: int) -> list[Turn]:
        size = min(_MORE, self._copy.last_turn_number + 1 - number)
        id = self._copy.id
        return (await self._store.turns_of([id], before=number + size, first=size)).get(id, [])

    async def _messages(self) -> AsyncIterator[MessageCopy]:
        end = self._copy.next_seq
        seq, page = end - self._copy.message_count, [one for one in self._begun.messages if one.seq < end]
        pace = Pace(_FEW, _MORE)
        while seq < end:
            page = page or await self._messages_from(seq, pace.size)
            _check_all([message.seq for message in page], seq)
            pace.weighed(page)
            for message in page:
                yield message
            seq, page = seq + len(page), []

    async def _messages_from(self, seq: int, size: int) -> list[MessageCopy]:
        id, before = self._copy.id, min(seq + size, self._copy.next_seq)
        found = await self._store.message_copies([id], after=seq - 1, before=before, first=size)
        return found.get(id, [])


def _check_all(numbers: list[int], first: int) -> None:
    """Raises Changed where these are not the numbers from `first` on."""
    if not numbers or numbers != list(range(first, first + len(numbers))):
        raise Changed
