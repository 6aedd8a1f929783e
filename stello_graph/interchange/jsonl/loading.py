"""The second reading of a file: a session with its transcript and its turns, as it is to be stored."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import IO, Any, Final

from stello_graph.interchange.jsonl.lines import Kind
from stello_graph.interchange.jsonl.reading import (
    Terms,
    Unreadable,
    cleaned,
    fields_of,
    is_plain,
    kind_of,
    read_message,
    read_session,
    read_turn,
)
from stello_graph.interchange.jsonl.scan import TWICE, Entry, lines_of
from stello_graph.interchange.plan import Repaired, Skipped
from stello_graph.model.copies import SessionCopy
from stello_graph.model.message import Message
from stello_graph.model.turn import Turn

__all__ = ["Loaded", "Loader", "Told"]

PLACE_TWICE: Final = "another message has its place"
NO_HOME: Final = "the message that it shares is not in the file"

_MOST: Final = 2**30


@dataclass(frozen=True, slots=True)
class Told:
    """A message as a line tells of it. `message` is None where another session tells it in full: `home`."""

    line: int
    seq: int
    message_id: str
    message: Message | None = None
    home: str = ""


@dataclass(slots=True)
class Loaded:
    """A session of the file, with ids as the file has them."""

    entry: Entry
    copy: SessionCopy
    told: list[Told]
    turns: list[Turn]
    remarks: list[Skipped | Repaired] = field(default_factory=list)

    @property
    def where(self) -> str:
        """Its place in the file."""
        return f"line {self.entry.line}, session {self.entry.id}"


class Loader:
    """Reads sessions of one file.

    Attributes:
        sessions: those that it tells of, by id.
    """

    def __init__(self, stream: IO[bytes], terms: Terms, sessions: dict[str, Entry]) -> None:
        self._stream = stream
        self._terms = terms
        self.sessions = sessions
        self._last_home: Loaded | None = None
        self._reading = Lock()

    def load(self, entry: Entry) -> Loaded:
        """A session with what can be stored of it, and remarks on the rest; also by several threads."""
        with self._reading:
            return self._load(entry)

    def _load(self, entry: Entry) -> Loaded:
        remarks: list[Skipped | Repaired] = []
        told: dict[int, Told] = {}
        turns: dict[str, Turn] = {}
        copy: SessionCopy | None = None
        waiting: list[tuple[int, dict[str, Any], bool]] = []
        for number, fields, line_is_plain in self._lines(entry):
            if fields["kind"] == Kind.SESSION:
                copy = copy or read_session(cleaned(fields, line_is_plain)[0], self._terms)[0]
            else:
                waiting.append((number, fields, line_is_plain))
        assert copy is not None, "it was there at the first reading"
        for number, told_fields, line_is_plain in waiting:
            try:
                fields, changes = cleaned(told_fields, line_is_plain)
                if fields["kind"] == Kind.TURN:
                    turn = read_turn({"startedAt": copy.created_at, **fields}, entry.id)
                    if turn.id in turns:
                        raise Unreadable(TWICE)
                    turns[turn.id] = turn
                else:
                    one = _told(fields, entry.id, number, copy.created_at)
                    if one.seq in told:
                        raise Unreadable(PLACE_TWICE)
                    told[one.seq] = one
                remarks += [Repaired(where=f"line {number}, session {entry.id}", why=why) for why in changes]
            except Unreadable as error:
                what = f", {error.field}" if error.field else ""
                where = f"line {number}, session {entry.id}{what}"
                remarks.append(Skipped(where=where, why=error.why))
        in_order = [told[seq] for seq in sorted(told)]
        return Loaded(entry, copy, in_order, sorted(turns.values(), key=lambda one: one.number), remarks)

    def at_home(self, lot: Mapping[str, Loaded]) -> dict[tuple[str, str], Message]:
        """The messages that some sessions share, by home and id. Each home is read once."""
        shared: dict[str, set[str]] = defaultdict(set)
        for loaded in lot.values():
            for told in loaded.told:
                if told.message is None and told.home in self.sessions:
                    shared[told.home].add(told.message_id)
        found: dict[tuple[str, str], Message] = {}
        for home, ids in shared.items():
            for told in (lot.get(home) or self._home(home)).told:
                if told.message is not None and told.message_id in ids:
                    found.setdefault((home, told.message_id), told.message)
        return found

    def _home(self, id: str) -> Loaded:
        if self._last_home is None or self._last_home.entry.id != id:
            self._last_home = self.load(self.sessions[id])
        return self._last_home

    def _lines(self, entry: Entry) -> Iterator[tuple[int, dict[str, Any], bool]]:
        """The lines of a session that could be read, by their numbers, and whether each is plain."""
        for run in entry.runs:
            lines = lines_of(self._stream, self._terms.max_line, run)
            for number, (_, _, line) in enumerate(lines, run.line):
                if line is None or not line.strip():
                    continue
                fields = fields_of(line)
                kind_of(fields)
                yield number, fields, is_plain(line)


def _told(fields: dict[str, Any], session_id: str, line: int, now: int) -> Told:
    seq, home = fields.get("seq"), fields.get("sharedWith")
    if type(seq) is not int or not 0 < seq < _MOST:
        raise Unreadable("its fields are not as they should be", "seq")
    if isinstance(home, str):
        id = fields.get("id")
        if not isinstance(id, str):
            raise Unreadable("its fields are not as they should be", "id")
        return Told(line, seq, id, home=home)
    message = read_message(fields, session_id, now)
    return Told(line, seq, message.id, message)
