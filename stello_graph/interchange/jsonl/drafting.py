"""Makes of what a file tells of some sessions what the store is asked to store."""

from dataclasses import dataclass, field
from typing import Final

from stello_graph.ids import new_id
from stello_graph.interchange.jsonl.loading import NO_HOME, Loaded, Loader, Told
from stello_graph.interchange.jsonl.order import Placed
from stello_graph.interchange.jsonl.renewal import Ids
from stello_graph.interchange.plan import Repaired, Skipped
from stello_graph.model.copies import Place, RestoreDraft, SessionCopy
from stello_graph.model.message import Message
from stello_graph.model.turn import Turn
from stello_graph.model.values import SessionRole

__all__ = ["Drafting", "Known"]

GAPS: Final = "messages are missing: those before moved to the next place"
OTHER_MESSAGE: Final = "its id is that of another message: it got a new one"
OTHER_TURN: Final = "its id is that of another turn: it got a new one"
NO_SUMMARY: Final = "its summary covers more than its transcript: it was left out"
NO_MAIN: Final = "only a root is MAIN: it is STANDARD now"


@dataclass(slots=True)
class Known:
    """What the store has of the messages and turns that some sessions name, and what is to come with them."""

    messages: dict[str, tuple[str, int]]
    turns: set[str]
    coming: dict[str, Message] = field(default_factory=dict)


class Drafting:
    """Drafts of sessions that are stored together.

    Attributes:
        remarks: what could not be kept as the file has it.
    """

    def __init__(self, loader: Loader, ids: Ids, known: Known) -> None:
        self.remarks: list[Skipped | Repaired] = []
        self._loader = loader
        self._ids = ids
        self._known = known

    def draft(self, placed: Placed, loaded: Loaded) -> RestoreDraft:
        """One session; those before it in the same lot were drafted before."""
        self.remarks += loaded.remarks
        session_id = self._ids.session(placed.entry.id)
        turns = [self._turn(turn, number, session_id) for number, turn in enumerate(loaded.turns, 1)]
        turn_ids = {old.id: new.id for old, new in zip(loaded.turns, turns, strict=True)}
        found = [one for told in loaded.told if (one := self._place(told, loaded, turn_ids)) is not None]
        places = self._without_gaps(found, loaded)
        return RestoreDraft(
            session=self._session(placed, loaded, places, len(turns)), places=places, turns=tuple(turns)
        )

    def _turn(self, turn: Turn, number: int, session_id: str) -> Turn:
        id = self._ids.other(turn.id)
        if id in self._known.turns:
            self._repair(f"turn {turn.id}", OTHER_TURN)
            id = new_id()
        self._known.turns.add(id)
        return turn.model_copy(update={"id": id, "session_id": session_id, "number": number})

    def _place(self, told: Told, loaded: Loaded, turn_ids: dict[str, str]) -> Place | None:
        """Where a message is, and what it says, if that is not stored already."""
        if told.message is None:
            return self._shared(told, loaded)
        message = self._renewed(told.message, turn_ids)
        other = self._written(message.id)
        if other not in (None, (message.session_id, message.created_at)):
            self._repair(f"line {told.line}, session {loaded.entry.id}", OTHER_MESSAGE)
            message = message.model_copy(update={"id": new_id()})
        self._known.coming[message.id] = message
        return Place(seq=told.seq, message_id=message.id, message=message)

    def _shared(self, told: Told, loaded: Loaded) -> Place | None:
        id = self._ids.other(told.message_id)
        message = self._known.coming.get(id)
        if message is None and id not in self._known.messages:
            found = self._loader.at_home(told)
            if found is None:
                where = f"line {told.line}, session {loaded.entry.id}"
                self.remarks.append(Skipped(where=where, why=NO_HOME))
                return None
            message = self._known.coming[id] = self._renewed(found, {})
        return Place(seq=told.seq, message_id=id, message=message)

    def _renewed(self, message: Message, turn_ids: dict[str, str]) -> Message:
        turn_id = message.turn_id
        return message.model_copy(
            update={
                "id": self._ids.other(message.id),
                "session_id": self._ids.session(message.session_id),
                "turn_id": None if turn_id is None else turn_ids.get(turn_id) or self._ids.other(turn_id),
            }
        )

    def _written(self, id: str) -> tuple[str, int] | None:
        """Which message has an id already: by the session that it was written in, and when."""
        coming = self._known.coming.get(id)
        return self._known.messages.get(id) if coming is None else (coming.session_id, coming.created_at)

    def _without_gaps(self, places: list[Place], loaded: Loaded) -> tuple[Place, ...]:
        """The newest message keeps its place, and those before it stand right before it."""
        if not places:
            return ()
        next_seq = max(places[-1].seq, len(places)) + 1
        seqs = range(next_seq - len(places), next_seq)
        if [one.seq for one in places] == list(seqs):
            return tuple(places)
        self._repair(loaded.where, GAPS)
        return tuple(one.model_copy(update={"seq": seq}) for seq, one in zip(seqs, places, strict=True))

    def _session(self, placed: Placed, loaded: Loaded, places: tuple[Place, ...], turns: int) -> SessionCopy:
        copy, ids = loaded.copy, self._ids
        next_seq = places[-1].seq + 1 if places else max(copy.next_seq, 1)
        insight, compression = copy.insight, copy.compression
        if insight is not None and insight.source_session_id is not None:
            insight = insight.model_copy(update={"source_session_id": ids.session(insight.source_session_id)})
        if compression is not None and compression.through_seq >= next_seq:
            self._repair(loaded.where, NO_SUMMARY)
            compression = None
        role = copy.role
        if role is SessionRole.MAIN and placed.parent_id is not None:
            self._repair(loaded.where, NO_MAIN)
            role = SessionRole.STANDARD
        source_id = copy.source_session_id
        return copy.model_copy(
            update={
                "id": ids.session(copy.id),
                "parent_id": None if placed.parent_id is None else ids.session(placed.parent_id),
                "index": placed.index,
                "source_session_id": None if source_id is None else ids.session(source_id),
                "role": role,
                "insight": insight,
                "compression": compression,
                "memory_through_seq": max(0, min(copy.memory_through_seq, next_seq - 1)),
                "message_count": len(places),
                "next_seq": next_seq,
                "last_turn_number": turns,
            }
        )

    def _repair(self, where: str, why: str) -> None:
        self.remarks.append(Repaired(where=where, why=why))
