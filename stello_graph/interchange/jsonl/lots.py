"""Sessions of a file on their way into the store, some at a time."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Final

from stello_graph.interchange.background import in_thread
from stello_graph.interchange.jsonl.drafting import Drafting, Known
from stello_graph.interchange.jsonl.lines import Kind
from stello_graph.interchange.jsonl.links import Links
from stello_graph.interchange.jsonl.loading import Loaded, Loader
from stello_graph.interchange.jsonl.lookups import existing, pages
from stello_graph.interchange.jsonl.moves import Moves
from stello_graph.interchange.jsonl.order import Placed
from stello_graph.interchange.jsonl.pace import MOST_BYTES, MOST_MESSAGES
from stello_graph.interchange.jsonl.renewal import Ids
from stello_graph.interchange.jsonl.scan import Entry
from stello_graph.interchange.plan import Skipped
from stello_graph.interchange.report import ImportReport, SessionOutcome
from stello_graph.model.copies import RestoreDraft
from stello_graph.model.message import Message
from stello_graph.ports import SpaceStore

__all__ = ["Lots", "lots"]

CHANGED: Final = "what it hangs on was deleted meanwhile"

_SESSIONS: Final = 200
_TRIES: Final = 5


Lot = Mapping[str, tuple[Placed, Loaded]]


def lots(loader: Loader, order: Iterable[Placed]) -> Iterator[Lot]:
    """Sessions some at a time, none together with its parent. Each comes after its parent in `order`."""
    lot: dict[str, tuple[Placed, Loaded]] = {}
    messages = 0
    # By session, the bytes that are read for the lot: of its own, and of those that tell what they share.
    sizes: dict[str, int] = {}
    for one in order:
        loaded = loader.load(one.entry)
        more = _sizes_for(loaded, loader.sessions)
        is_full = len(lot) >= _SESSIONS or messages >= MOST_MESSAGES
        is_large = sum((sizes | more).values()) > MOST_BYTES
        if lot and (is_full or is_large or one.parent_id in lot):
            yield lot
            lot, messages, sizes = {}, 0, {}
        lot[one.entry.id] = one, loaded
        messages += len(loaded.told)
        sizes |= more
    if lot:
        yield lot


def _sizes_for(loaded: Loaded, sessions: Mapping[str, Entry]) -> dict[str, int]:
    ids = {loaded.entry.id, *(told.home for told in loaded.told if told.home in sessions)}
    return {id: sessions[id].size for id in ids}


class Lots:
    """Stores sessions some at a time."""

    def __init__(
        self, store: SpaceStore, loader: Loader, ids: Ids, links: Links, report: ImportReport, now: int
    ) -> None:
        """`now`: the time of what tells none."""
        self._store = store
        self._loader = loader
        self._moves = Moves(loader)
        self._ids = ids
        self._links = links
        self._report = report
        self._now = now

    async def store(self, lot: Lot, on_ready: Callable[[], None]) -> None:
        """Stores it, without what somebody else has made or taken away meanwhile.

        Args:
            on_ready: called when what is left of the work is the store's.
        """
        for _ in range(_TRIES):
            if not lot:
                return
            known = await self._known({id: loaded for id, (_, loaded) in lot.items()})
            drafting = Drafting(self._ids, known, self._now)
            drafts = await in_thread(_drafted, drafting, list(lot.values()))
            on_ready()
            if await self._store.restore_sessions(drafts, self._links.coming_with(lot)):
                self._report.add_all(drafting.remarks)
                self._links.stored(lot)
                self._count(drafts, set(known.messages))
                return
            lot = await self._still_missing(lot)
        for id, (_, loaded) in lot.items():
            self._skip(id, loaded)

    async def _known(self, lot: Mapping[str, Loaded]) -> Known:
        """What the store has of the messages and turns of a lot, and the messages that it shares."""
        messages: dict[str, tuple[str, int]] = {}
        for page in pages(
            self._ids.other(Kind.MESSAGE, told.home or id, told.message_id)
            for id, loaded in lot.items()
            for told in loaded.told
        ):
            messages |= await self._store.written_messages(page)
        homed = await in_thread(self._loader.at_home, lot)
        await in_thread(self._moves.look_at, lot, homed)
        turns: dict[str, str] = {}
        for page in pages({self._ids.other(Kind.TURN, *named) for named in _turns(lot, homed.values())}):
            turns |= await self._store.taken_turns(page)
        return Known(messages, turns, homed, self._moves)

    async def _still_missing(self, lot: Lot) -> Lot:
        """What of a lot can be tried again, now that it is known what has come and gone."""
        above = {one.parent_id for one, _ in lot.values() if one.parent_id is not None}
        ends = self._links.ends_with(lot)
        there = await existing(self._store, map(self._ids.session, [*lot, *above, *ends]))
        self._report.add_all(self._links.lost([id for id in ends if self._ids.session(id) not in there]))
        missing = {}
        for id, (one, loaded) in lot.items():
            if self._ids.session(id) in there:
                self._links.stored([id])
                self._report.add_session(SessionOutcome.PRESENT, messages=0, is_fork=False)
            elif one.parent_id is not None and self._ids.session(one.parent_id) not in there:
                self._skip(id, loaded)
            else:
                missing[id] = one, loaded
        return missing

    def _skip(self, id: str, loaded: Loaded) -> None:
        self._report.add(Skipped(where=loaded.where, why=CHANGED))
        self._report.add_all(self._links.lost([id]))

    def _count(self, drafts: Sequence[RestoreDraft], stored: set[str]) -> None:
        """`stored`: the messages that were there before."""
        for draft in drafts:
            new = {place.message_id for place in draft.places} - stored
            stored |= new
            is_fork = draft.session.source_session_id is not None
            self._report.add_session(SessionOutcome.IMPORTED, messages=len(new), is_fork=is_fork)


def _turns(lot: Mapping[str, Loaded], shared: Iterable[Message]) -> Iterator[tuple[str, str]]:
    """The turns that a lot tells or that its messages are of, with their sessions."""
    for id, loaded in lot.items():
        yield from ((id, turn.id) for turn in loaded.turns)
        yield from _turns_of(told.message for told in loaded.told if told.message is not None)
    yield from _turns_of(shared)


def _turns_of(messages: Iterable[Message]) -> Iterator[tuple[str, str]]:
    return ((one.session_id, one.turn_id) for one in messages if one.turn_id is not None)


def _drafted(drafting: Drafting, lot: Sequence[tuple[Placed, Loaded]]) -> list[RestoreDraft]:
    return [drafting.draft(one, loaded) for one, loaded in lot]
