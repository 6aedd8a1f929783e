"""Makes of what a file tells of some sessions what the store is asked to store."""

from dataclasses import dataclass, field
from typing import Final

from stello_graph.ids import new_id
from stello_graph.interchange.jsonl.lines import Kind
from stello_graph.interchange.jsonl.loading import NO_HOME, Loaded, Told
from stello_graph.interchange.jsonl.moves import Moved, Moves
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
SAME_MESSAGE: Final = "the session has one of its id before it: it got a new one"
OTHER_TURN: Final = "its id is that of another turn: it got a new one"
NO_SUMMARY: Final = "its summary covers more than its transcript: it was left out"
NO_MAIN: Final = "only a root is MAIN: it is STANDARD now"


@dataclass(slots=True)
class Known:
    """What is known of the messages and turns that some sessions name, and what is to come with them.

    Attributes:
        messages: those that the store has, with the session that each was written in, and when.
        turns: those that the store has, or that are to come, with their sessions.
        homed: messages that these sessions share, by their home and their id in the file, as it tells them.
        moves: where the places go of these sessions and of those that they were forked from.
    """

    messages: dict[str, tuple[str, int]]
    turns: dict[str, str]
    homed: dict[tuple[str, str], Message]
    moves: Moves
    coming: dict[str, Message] = field(default_factory=dict)


class Drafting:
    """Drafts of sessions that are stored together.

    Attributes:
        remarks: what could not be kept as the file has it.
    """

    def __init__(self, ids: Ids, known: Known, now: int) -> None:
        """`now`: the time of what tells none."""
        self.remarks: list[Skipped | Repaired] = []
        self._ids = ids
        self._known = known
        self._now = now

    def draft(self, placed: Placed, loaded: Loaded) -> RestoreDraft:
        """One session; those before it in the same lot were drafted before."""
        self.remarks += loaded.remarks
        moved = self._known.moves.of(loaded.entry.id)
        ids: set[str] = set()
        turn_ids = [self._new_turn_id(turn, loaded.entry.id) for turn in loaded.turns]
        found = [one for told in loaded.told if (one := self._place(told, loaded, ids)) is not None]
        places = self._without_gaps(found, moved, loaded)
        session = self._session(placed, loaded, places, moved)
        turns = tuple(
            _with_places(turn, moved, session.next_seq).model_copy(
                update={"id": id, "session_id": session.id, "number": number}
            )
            for number, (id, turn) in enumerate(zip(turn_ids, loaded.turns, strict=True), 1)
        )
        return RestoreDraft(session=session, places=places, turns=turns)

    def _new_turn_id(self, turn: Turn, session_id: str) -> str:
        id = self._ids.other(Kind.TURN, session_id, turn.id)
        if id in self._known.turns:
            id = self._ids.replace(Kind.TURN, session_id, turn.id)
        if self._ids.is_replaced(Kind.TURN, session_id, turn.id):
            self._repair(f"turn {turn.id}", OTHER_TURN)
        self._known.turns[id] = self._ids.session(session_id)
        return id

    def _place(self, told: Told, loaded: Loaded, ids: set[str]) -> Place | None:
        """Where a message is, and what it says, if it is not one that is stored already and shared.

        Args:
            ids: of the messages before it.
        """
        where = f"line {told.line}, session {loaded.entry.id}"
        home = told.home or loaded.entry.id
        message = told.message or self._known.homed.get((home, told.message_id))
        if message is None:
            self.remarks.append(Skipped(where=where, why=NO_HOME))
            return None
        message = self._renewed(message, home)
        if message.id in ids:
            self._repair(where, SAME_MESSAGE)
            message = message.model_copy(update={"id": new_id()})
        elif self._is_taken(message):
            message = message.model_copy(
                update={"id": self._ids.replace(Kind.MESSAGE, home, told.message_id)}
            )
        if self._ids.is_replaced(Kind.MESSAGE, home, told.message_id):
            self._repair(where, OTHER_MESSAGE)
        ids.add(message.id)
        is_stored = told.message is None and message.id in self._known.messages
        if not is_stored:
            self._known.coming.setdefault(message.id, message)
        return Place(seq=told.seq, message_id=message.id, message=None if is_stored else message)

    def _renewed(self, message: Message, home: str) -> Message:
        turn_id, session_id = message.turn_id, message.session_id
        ids = {
            "id": self._ids.other(Kind.MESSAGE, home, message.id),
            "session_id": self._ids.session(session_id),
            "turn_id": None if turn_id is None else self._turn_id(turn_id, session_id),
        }
        # To copy it takes longer than all else that is done with it here.
        is_same = ids == {"id": message.id, "session_id": session_id, "turn_id": turn_id}
        return message if is_same else message.model_copy(update=ids)

    def _turn_id(self, id: str, session_id: str) -> str:
        """Of a turn of a session, which may come later, or never: not that of another session's turn."""
        here = self._ids.session(session_id)
        other = self._ids.other(Kind.TURN, session_id, id)
        if self._known.turns.get(other, here) == here:
            return other
        return self._ids.replace(Kind.TURN, session_id, id)

    def _is_taken(self, message: Message) -> bool:
        """Whether another message has its id: one that was written in another session, or at another time."""
        coming = self._known.coming.get(message.id)
        if coming is not None:
            return (coming.session_id, coming.created_at) != (message.session_id, message.created_at)
        if message.id not in self._known.messages:
            return False
        session_id, created_at = self._known.messages[message.id]
        return message.session_id != session_id or message.created_at not in (created_at, self._now)

    def _without_gaps(self, places: list[Place], moved: Moved, loaded: Loaded) -> tuple[Place, ...]:
        if not moved.has_gaps:
            return tuple(places)
        self._repair(loaded.where, GAPS)
        return tuple(one.model_copy(update={"seq": moved.last(one.seq)}) for one in places)

    def _session(
        self, placed: Placed, loaded: Loaded, places: tuple[Place, ...], moved: Moved
    ) -> SessionCopy:
        copy, ids = loaded.copy, self._ids
        next_seq = places[-1].seq + 1 if places else max(copy.next_seq, 1)
        insight, compression = copy.insight, copy.compression
        if insight is not None and insight.source_session_id is not None:
            insight = insight.model_copy(update={"source_session_id": ids.session(insight.source_session_id)})
        if compression is not None and compression.through_seq >= next_seq:
            self._repair(loaded.where, NO_SUMMARY)
            compression = None
        if compression is not None:
            through_seq = moved.last(compression.through_seq)
            compression = compression.model_copy(update={"through_seq": through_seq})
        role = copy.role
        if role is SessionRole.MAIN and placed.parent_id is not None:
            self._repair(loaded.where, NO_MAIN)
            role = SessionRole.STANDARD
        source_id, source_seq = copy.source_session_id, copy.source_seq
        if source_id is not None and source_seq is not None:
            source_seq = self._known.moves.of(source_id).last(source_seq)
        return copy.model_copy(
            update={
                "id": ids.session(copy.id),
                "parent_id": None if placed.parent_id is None else ids.session(placed.parent_id),
                "index": placed.index,
                "source_session_id": None if source_id is None else ids.session(source_id),
                "source_seq": source_seq,
                "role": role,
                "insight": insight,
                "compression": compression,
                "memory_through_seq": max(0, min(moved.last(copy.memory_through_seq), next_seq - 1)),
                "message_count": len(places),
                "next_seq": next_seq,
                "last_turn_number": len(loaded.turns),
            }
        )

    def _repair(self, where: str, why: str) -> None:
        self.remarks.append(Repaired(where=where, why=why))


def _with_places(turn: Turn, moved: Moved, next_seq: int) -> Turn:
    """The turn with the messages that are left of it; none where the last place is before the first."""
    first_seq = min(moved.first(turn.first_seq), next_seq)
    last_seq = min(moved.last(turn.last_seq), next_seq - 1)
    return turn.model_copy(update={"first_seq": first_seq, "last_seq": last_seq})
