"""Reads all that a Space holds by pages, and yields it as lines.

What is written meanwhile: each session is told as it was at one moment, sessions at different ones. One
that was made or deleted meanwhile may be missing, never a part of one that is told.
"""

import asyncio
from collections.abc import AsyncIterator, Sequence
from tempfile import SpooledTemporaryFile
from typing import IO, Final

from stello_graph.errors import Conflict
from stello_graph.interchange.jsonl.export_report import ExportReport
from stello_graph.interchange.jsonl.lines import Kind, beside_line, header_line, space_line
from stello_graph.interchange.jsonl.pace import Pace
from stello_graph.interchange.jsonl.tellers import Tellers
from stello_graph.interchange.jsonl.telling import Begun, Changed, Part, Telling
from stello_graph.ports import SpaceStore

__all__ = ["export_lines"]

_IDS: Final = 1_000
_RECORDS: Final = 100
_SESSIONS: Final = 25
# Of a page before anything is known of what pages weigh.
_TO_BEGIN_WITH: Final = 2
# Of each session of a page; the rest of a long one comes by itself.
_FIRST: Final = 20
_END: Final = 2**53
_TRIES: Final = 6
# Bytes of one session that wait in memory, and not in a file, until all of it is read.
_IN_MEMORY: Final = 1 << 20


async def export_lines(
    store: SpaceStore, report: ExportReport, root_id: str | None = None
) -> AsyncIterator[bytes]:
    """The file, line by line.

    Args:
        root_id: tells this session and what is below it, and nothing that belongs to no session.

    Raises:
        NotFound: the Space, or the session.
        Conflict: a session has more messages or turns than it shows.
    """
    space = await store.space()
    part = None if root_id is None else Part(root_id, frozenset(await _ids_below(store, root_id)))
    report.total = space.session_count if part is None else len(part.members)
    yield header_line()
    if part is None:
        yield space_line(space)
        async for line in _beside(store, report):
            yield line
    sessions = _Sessions(store, report, part)
    async for ids in _ids(store, part):
        async for line in sessions.lines(ids):
            yield line


async def _ids(store: SpaceStore, part: Part | None) -> AsyncIterator[list[str]]:
    if part is not None:
        yield sorted(part.members)
        return
    after = ""
    while ids := await store.session_ids(after=after, first=_IDS):
        yield ids
        after = ids[-1]


async def _ids_below(store: SpaceStore, root_id: str) -> Sequence[str]:
    shape = await store.star_map(root_id, max_depth=None, max_nodes=_END, include_archived=True)
    return shape.columns["id"]


async def _beside(store: SpaceStore, report: ExportReport) -> AsyncIterator[bytes]:
    after, pace = "", Pace(_TO_BEGIN_WITH, _RECORDS)
    while records := await store.records("", after=after, first=pace.size):
        pace.weighed(records)
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
    """Tells sessions, each whole or not at all."""

    def __init__(self, store: SpaceStore, report: ExportReport, part: Part | None) -> None:
        self._store = store
        self._report = report
        self._tellers = Tellers()
        self._part = part
        self._pace = Pace(_TO_BEGIN_WITH, _SESSIONS)

    async def lines(self, ids: Sequence[str]) -> AsyncIterator[bytes]:
        start = 0
        while page := ids[start : start + self._pace.size]:
            start += len(page)
            for begun in await self._begun(page):
                with SpooledTemporaryFile(_IN_MEMORY) as whole:
                    await self._tell(begun, whole)
                    whole.seek(0)
                    for line in whole:
                        yield line

    async def _begun(self, ids: Sequence[str]) -> list[Begun]:
        copies = await self._store.session_copies(ids)
        messages = await self._store.message_copies(ids, after=0, before=_END, first=_FIRST)
        turns = await self._store.turns_of(ids, before=_FIRST + 1, first=_FIRST)
        if copies:
            self._pace.weighed([copies, *messages.values()])
        return [Begun(copy, messages.get(copy.id, ()), turns.get(copy.id, ())) for copy in copies]

    async def _tell(self, begun: Begun, whole: IO[bytes]) -> None:
        """Writes a session, as it is once all of it can be read; nothing where it is gone.

        What was trimmed away was before what was not read yet: each time begins later than the last.
        """
        tries = 0
        while not await self._is_told(begun, whole):
            if tries == _TRIES:
                raise Conflict(f'session "{begun.copy.id}" has more messages or turns than it shows')
            await asyncio.sleep(0.01 * 2**tries)
            found = await self._store.session_copies([begun.copy.id])
            if not found:
                return
            is_trimmed = _first_seq(Begun(found[0])) > _first_seq(begun)
            tries = 0 if is_trimmed else tries + 1
            begun = Begun(found[0])

    async def _is_told(self, begun: Begun, whole: IO[bytes]) -> bool:
        telling = Telling(self._store, begun, self._tellers, self._part)
        try:
            async for line in telling.lines():
                whole.write(line)
        except Changed:
            self._tellers.forget()
            whole.seek(0)
            whole.truncate()
            return False
        self._tellers.keep()
        self._report += telling.report
        return True


def _first_seq(begun: Begun) -> int:
    return begun.copy.next_seq - begun.copy.message_count
