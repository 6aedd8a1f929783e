"""What a file tells beside its sessions, into a Space: only where that has nothing of the kind and name."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import IO, Final

from stello_graph.interchange.background import in_thread
from stello_graph.interchange.jsonl.lines import Kind
from stello_graph.interchange.jsonl.pace import MOST_BYTES
from stello_graph.interchange.jsonl.reading import (
    Terms,
    cleaned,
    fields_of,
    is_plain,
    kind_of,
    read_beside,
    read_space,
)
from stello_graph.interchange.jsonl.scan import Run, lines_of
from stello_graph.interchange.plan import Skipped
from stello_graph.interchange.report import BesideOutcome, ImportReport
from stello_graph.model.knowledge import MAX_SHARED_MEMORIES, MAX_SKILLS, Record, SharedMemory, Skill
from stello_graph.model.profile import MAX_PROFILES, ForkProfile
from stello_graph.model.space import Space, default_name
from stello_graph.model.values import Value
from stello_graph.ports import SpaceStore

__all__ = ["restore_beside"]

OTHER_SETTINGS: Final = "the Space has other settings: they stay"
OTHER_NAME: Final = "the Space has another name: it stays"
OTHER: Final = "the Space has another of that name: it stays"
FULL: Final = "the Space has as many as it may"

NOT_ADMIN: Final = "settings, skills and fork profiles are for ADMIN alone"

_OF_ADMINS: Final = (Kind.SPACE, Kind.SKILL, Kind.PROFILE)
_LOT: Final = 50


async def restore_beside(
    store: SpaceStore,
    stream: IO[bytes],
    runs: Sequence[Run],
    report: ImportReport,
    *,
    terms: Terms,
    as_admin: bool,
) -> None:
    """Stores it, and tells the report. Settings, skills and fork profiles are stored as an admin only."""
    there = _There(await store.shared_memories(), await store.skills(), await store.profiles(), store, report)
    lines = _lines(stream, runs, terms)
    while lot := await in_thread(_some, lines):
        taken: list[Value] = []
        for one in lot:
            if one.kind in _OF_ADMINS and not as_admin:
                report.add_beside(BesideOutcome.LEFT)
                report.add(Skipped(where=one.where, why=NOT_ADMIN))
            elif isinstance(one.value, Space):
                await _restore_space(store, one.where, one.value, report)
            elif await there.takes(one):
                taken.append(one.value)
        await _store(store, taken, report)


@dataclass(frozen=True, slots=True)
class _Told:
    line: int
    kind: Kind
    name: str
    value: Value
    size: int

    @property
    def where(self) -> str:
        return f"line {self.line}, {self.kind} {self.name}".rstrip()


def _lines(stream: IO[bytes], runs: Sequence[Run], terms: Terms) -> Iterator[_Told]:
    for run in runs:
        for number, (start, end, line) in enumerate(lines_of(stream, terms.max_line, run), run.line):
            assert line is not None, "it was short enough at the first reading"
            fields, _ = cleaned(fields_of(line), is_plain(line))
            kind = kind_of(fields)
            if kind is Kind.SPACE:
                yield _Told(number, kind, "", read_space(fields, terms), end - start)
            else:
                yield _Told(number, kind, *read_beside(kind, fields, terms), end - start)


def _some(lines: Iterator[_Told]) -> list[_Told]:
    lot: list[_Told] = []
    for one in lines:
        lot.append(one)
        if len(lot) == _LOT or sum(each.size for each in lot) >= MOST_BYTES:
            break
    return lot


async def _restore_space(store: SpaceStore, where: str, space: Space, report: ImportReport) -> None:
    made = await store.space()
    # While the Space is not configured, its name is what it was made with.
    name = space.name if made.name == default_name(made.id) else made.name
    is_taken = await store.restore_space(space.model_copy(update={"name": name}))
    there = await store.space()
    if is_taken:
        report.add_beside(BesideOutcome.IMPORTED)
    elif (there.name, there.config) == (space.name, space.config):
        report.add_beside(BesideOutcome.PRESENT)
    else:
        report.add_beside(BesideOutcome.DIFFERENT)
    if there.name != space.name:
        report.add(Skipped(where=where, why=OTHER_NAME))
    if there.config != space.config:
        report.add(Skipped(where=where, why=OTHER_SETTINGS))


class _There:
    """What the Space has."""

    def __init__(
        self,
        memories: Sequence[SharedMemory],
        skills: Sequence[Skill],
        profiles: Sequence[ForkProfile],
        store: SpaceStore,
        report: ImportReport,
    ) -> None:
        self._store = store
        self._report = report
        self._named: dict[Kind, dict[str, Value]] = {
            Kind.SHARED_MEMORY: {one.slug: one for one in memories},
            Kind.SKILL: {one.name: one for one in skills},
            Kind.PROFILE: {one.name: one for one in profiles},
        }
        self._most = {
            Kind.SHARED_MEMORY: MAX_SHARED_MEMORIES,
            Kind.SKILL: MAX_SKILLS,
            Kind.PROFILE: MAX_PROFILES,
        }

    async def takes(self, one: _Told) -> bool:
        """Whether the Space has room for it and nothing of its name; tells the report where it has."""
        named = self._named.get(one.kind)
        found = await self._store.record(one.name) if named is None else named.get(one.name)
        if found is not None:
            if _said(found) == _said(one.value):
                self._report.add_beside(BesideOutcome.PRESENT)
            else:
                self._left(one, BesideOutcome.DIFFERENT, OTHER)
            return False
        if named is not None:
            if len(named) >= self._most[one.kind]:
                self._left(one, BesideOutcome.LEFT, FULL)
                return False
            named[one.name] = one.value
        return True

    def _left(self, one: _Told, outcome: BesideOutcome, why: str) -> None:
        self._report.add_beside(outcome)
        self._report.add(Skipped(where=one.where, why=why))


def _said(one: Value) -> object:
    return one.model_dump(exclude={"revision", "updated_at"})


async def _store(store: SpaceStore, lot: list[Value], report: ImportReport) -> None:
    if not lot:
        return
    await store.restore_beside(
        records=[one for one in lot if isinstance(one, Record)],
        shared_memories=[one for one in lot if isinstance(one, SharedMemory)],
        skills=[one for one in lot if isinstance(one, Skill)],
        profiles=[one for one in lot if isinstance(one, ForkProfile)],
    )
    for _ in lot:
        report.add_beside(BesideOutcome.IMPORTED)
