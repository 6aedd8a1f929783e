"""What a file tells beside its sessions, into a Space: only where that has nothing of the kind and name."""

from collections.abc import Sequence
from typing import IO, Final

from stello_graph.interchange.background import in_thread
from stello_graph.interchange.jsonl.lines import Kind
from stello_graph.interchange.jsonl.reading import fields_of, kind_of, read_beside, read_space
from stello_graph.interchange.jsonl.scan import Run, lines_of
from stello_graph.interchange.plan import Skipped
from stello_graph.interchange.report import ImportReport, SessionOutcome
from stello_graph.model.knowledge import MAX_SHARED_MEMORIES, MAX_SKILLS, Record, SharedMemory, Skill
from stello_graph.model.profile import MAX_PROFILES, ForkProfile
from stello_graph.model.space import Space
from stello_graph.model.values import Value
from stello_graph.ports import SpaceStore

__all__ = ["restore_beside"]

OTHER_SETTINGS: Final = "the Space has settings of its own: they stay"
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
    max_line: int,
    now: int,
    as_admin: bool,
) -> None:
    """Stores it, and tells the report. Settings, skills and fork profiles are stored as an admin only."""
    there = _There(await store.shared_memories(), await store.skills(), await store.profiles(), store, report)
    lot: list[Value] = []
    for run in runs:
        for line in await in_thread(_lines, stream, max_line, run):
            fields = fields_of(line)
            kind = kind_of(fields)
            if kind in _OF_ADMINS and not as_admin:
                report.add(Skipped(where=f"the {kind}", why=NOT_ADMIN))
                continue
            if kind is Kind.SPACE:
                await _restore_space(store, read_space(fields, now), report)
                continue
            name, one = read_beside(kind, fields, now)
            if await there.takes(kind, name, one):
                lot.append(one)
            if len(lot) == _LOT:
                await _store(store, lot, report)
                lot = []
    await _store(store, lot, report)


def _lines(stream: IO[bytes], max_line: int, run: Run) -> list[bytes]:
    return [line for _, _, line in lines_of(stream, max_line, run) if line is not None]


async def _restore_space(store: SpaceStore, space: Space, report: ImportReport) -> None:
    if await store.restore_space(space):
        report.add_beside(SessionOutcome.IMPORTED)
        return
    report.add_beside(SessionOutcome.PRESENT)
    if (await store.space()).config != space.config:
        report.add(Skipped(where="the settings", why=OTHER_SETTINGS))


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

    async def takes(self, kind: Kind, name: str, one: Value) -> bool:
        """Whether the Space has room for it and nothing of its name; tells the report where it has."""
        named = self._named.get(kind)
        found = await self._store.record(name) if named is None else named.get(name)
        if found is not None:
            self._report.add_beside(SessionOutcome.PRESENT)
            if _said(found) != _said(one):
                self._report.add(Skipped(where=f"{kind} {name}", why=OTHER))
            return False
        if named is not None:
            if len(named) >= self._most[kind]:
                self._report.add(Skipped(where=f"{kind} {name}", why=FULL))
                return False
            named[name] = one
        return True


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
        report.add_beside(SessionOutcome.IMPORTED)
