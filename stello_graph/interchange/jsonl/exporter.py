"""Reads all that a Space holds by pages, and yields it as lines.

What is written meanwhile: each session is told as it was at one moment, sessions at different ones. One
that was made or deleted meanwhile may be missing, never a part of one that is told.
"""

import asyncio
from collections import Counter
from collections.abc import AsyncIterator, Sequence
from typing import Final

from stello_graph.errors import Conflict
from stello_graph.interchange.jsonl.lines import (
    Kind,
    beside_line,
    header_line,
    interrupted,
    message_line,
    session_line,
    shared_line,
    space_line,
    turn_line,
)
from stello_graph.model.copies import HomedMessage, SessionCopy
from stello_graph.model.turn import Turn
from stello_graph.ports import SpaceStore

__all__ = ["ExportReport", "export_lines"]

_IDS: Final = 1_000
_SESSIONS: Final = 25
# Of each session of a page; the rest of a long one comes by itself.
_FIRST: Final = 20
_MORE: Final = 200
_END: Final = 2**53
_TRIES: Final = 6


class ExportReport:
    """Counts while an export runs.

    Attributes:
        told: lines by kind.
        total: how many sessions there are.
        links_outside: links of a part of the forest that lead out of it and are left out.
        open_turns: turns that were not over, told as interrupted.
    """

    def __init__(self) -> None:
        self.told: Counter[Kind] = Counter()
        self.total = 0
        self.links_outside = 0
        self.open_turns = 0

    @property
    def sessions(self) -> int:
        """How many were told."""
        return self.told[Kind.SESSION]

    def sentences(self) -> list[str]:
        """As text for people."""
        counts = {kind: count for kind, count in self.told.items() if count and kind is not Kind.SPACE}
        said = [f"Exported: {', '.join(f'{count} {_name(kind, count)}' for kind, count in counts.items())}"]
        if self.links_outside:
            said.append(f"Left out, since they lead to sessions outside: {self.links_outside} links")
        if self.open_turns:
            said.append(f"Still running, told as interrupted: {self.open_turns} turns")
        return said if counts else ["Exported: an empty Space"]


async def export_lines(
    store: SpaceStore, report: ExportReport, root_id: str | None = None
) -> AsyncIterator[bytes]:
    """The file, line by line.

    Args:
        root_id: tells this session and what is below it, and nothing that belongs to no session.

    Raises:
        NotFound: the Space, or the session.
        Conflict: a session was trimmed again and again while it was read.
    """
    space = await store.space()
    yield header_line()
    if root_id is None:
        report.total = space.session_count
        yield space_line(space)
        async for line in _beside(store, report):
            yield line
        export = _Sessions(store, report, None, None)
        async for ids in _all_ids(store):
            async for line in export.lines(ids):
                yield line
    else:
        ids = await _ids_below(store, root_id)
        report.total = len(ids)
        async for line in _Sessions(store, report, root_id, frozenset(ids)).lines(ids):
            yield line


async def _all_ids(store: SpaceStore) -> AsyncIterator[list[str]]:
    after = ""
    while ids := await store.session_ids(after=after, first=_IDS):
        yield ids
        after = ids[-1]


async def _ids_below(store: SpaceStore, root_id: str) -> list[str]:
    shape = await store.star_map(root_id, max_depth=None, max_nodes=_END, include_archived=True)
    return sorted(shape.columns["id"])


async def _beside(store: SpaceStore, report: ExportReport) -> AsyncIterator[bytes]:
    after = ""
    while records := await store.records("", after=after, first=_IDS):
        for record in records:
            report.told[Kind.RECORD] += 1
            yield beside_line(record)
        after = records[-1].key
    for memory in await store.shared_memories():
        report.told[Kind.SHARED_MEMORY] += 1
        yield beside_line(memory)
    for skill in await store.skills():
        report.told[Kind.SKILL] += 1
        yield beside_line(skill)
    for profile in await store.profiles():
        report.told[Kind.PROFILE] += 1
        yield beside_line(profile)


class _Sessions:
    """Tells sessions, each with its turns and messages.

    Attributes:
        members: what is told in all; None for the whole Space.
    """

    def __init__(
        self, store: SpaceStore, report: ExportReport, root_id: str | None, members: frozenset[str] | None
    ) -> None:
        self._store = store
        self._report = report
        self._root_id = root_id
        self._members = members
        self._homes: dict[str, str] = {}

    async def lines(self, ids: Sequence[str]) -> AsyncIterator[bytes]:
        for start in range(0, len(ids), _SESSIONS):
            page = ids[start : start + _SESSIONS]
            copies = await self._store.session_copies(page)
            heads = await self._store.homed_messages(page, after=0, before=_END, first=_FIRST)
            turns = await self._store.turns_of(page, before=_FIRST + 1, first=_FIRST)
            for copy in copies:
                settled = await self._settled(copy, heads.get(copy.id, []))
                if settled is not None:
                    async for line in self._session(*settled, turns.get(copy.id, [])):
                        yield line

    async def _settled(
        self, copy: SessionCopy, head: list[HomedMessage]
    ) -> tuple[SessionCopy, list[HomedMessage]] | None:
        """The session with its first messages, once both are of one moment; None where it is gone."""
        for number in range(_TRIES):
            known = _before(head, copy.next_seq)
            if _follow(known, copy.next_seq - copy.message_count, min(copy.message_count, _FIRST)):
                return copy, known
            await asyncio.sleep(0.01 * 2**number)
            found = await self._store.session_copies([copy.id])
            if not found:
                return None
            copy = found[0]
            heads = await self._store.homed_messages([copy.id], after=0, before=_END, first=_FIRST)
            head = heads.get(copy.id, [])
        raise _changed(copy.id)

    async def _session(
        self, copy: SessionCopy, head: list[HomedMessage], turns: list[Turn]
    ) -> AsyncIterator[bytes]:
        self._report.told[Kind.SESSION] += 1
        yield session_line(self._part(copy))
        async for turn in self._turns(copy, turns):
            self._report.told[Kind.TURN] += 1
            yield turn_line(turn)
        async for message in self._messages(copy, head):
            self._report.told[Kind.MESSAGE] += 1
            home = self._home(copy.id, message)
            if home == copy.id:
                yield message_line(copy.id, message)
            else:
                yield shared_line(copy.id, message, home)

    def _part(self, copy: SessionCopy) -> SessionCopy:
        """The session as a part of what is told; its root has nothing above."""
        if self._members is None:
            return copy
        refs = tuple(ref for ref in copy.refs if ref.to_id in self._members)
        self._report.links_outside += len(copy.refs) - len(refs)
        if copy.id == self._root_id:
            return copy.model_copy(update={"refs": refs, "parent_id": None, "index": 0})
        return copy.model_copy(update={"refs": refs})

    def _home(self, session_id: str, message: HomedMessage) -> str:
        """The session that tells a message in full: its home, or else the first that has it."""
        if self._members is None or message.home in self._members:
            return message.home
        return self._homes.setdefault(message.id, session_id)

    async def _turns(self, copy: SessionCopy, head: list[Turn]) -> AsyncIterator[Turn]:
        number, page = 0, head
        while True:
            for turn in page:
                if turn.number <= copy.last_turn_number:
                    yield self._ended(turn, copy)
            number += len(page)
            if not page or number >= copy.last_turn_number:
                return
            size = min(_MORE, copy.last_turn_number - number)
            found = await self._store.turns_of([copy.id], before=number + size + 1, first=size)
            page = found.get(copy.id, [])

    def _ended(self, turn: Turn, copy: SessionCopy) -> Turn:
        """What ended after the session was read was not over at that moment."""
        if not turn.is_open and turn.last_seq < copy.next_seq:
            return turn
        self._report.open_turns += 1
        known = turn.model_copy(update={"last_seq": min(turn.last_seq, copy.next_seq - 1)})
        return interrupted(known, copy.last_active_at)

    async def _messages(self, copy: SessionCopy, head: list[HomedMessage]) -> AsyncIterator[HomedMessage]:
        seq, page = copy.next_seq - copy.message_count, head
        while seq < copy.next_seq:
            for message in page:
                yield message
            seq += len(page)
            if seq < copy.next_seq:
                page = await self._page(copy, seq)

    async def _page(self, copy: SessionCopy, first_seq: int) -> list[HomedMessage]:
        size = min(_MORE, copy.next_seq - first_seq)
        for number in range(_TRIES):
            found = await self._store.homed_messages(
                [copy.id], after=first_seq - 1, before=first_seq + size, first=size
            )
            page = found.get(copy.id, [])
            if _follow(page, first_seq, size):
                return page
            await asyncio.sleep(0.01 * 2**number)
        raise _changed(copy.id)


def _before(messages: list[HomedMessage], seq: int) -> list[HomedMessage]:
    return [message for message in messages if message.seq < seq]


def _follow(messages: list[HomedMessage], first_seq: int, count: int) -> bool:
    return [message.seq for message in messages] == list(range(first_seq, first_seq + count))


def _changed(session_id: str) -> Conflict:
    return Conflict(f'session "{session_id}" was trimmed or deleted while it was exported: export again')


def _name(kind: Kind, count: int) -> str:
    name = {Kind.SHARED_MEMORY: "shared memory", Kind.PROFILE: "fork profile"}.get(kind, str(kind))
    if count == 1:
        return name
    return name[:-1] + "ies" if name.endswith("y") else name + "s"
