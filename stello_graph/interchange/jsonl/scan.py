"""The first reading of a file: where each session's lines stand, whatever their order."""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import IO, Final

from stello_graph.interchange.jsonl.lines import Kind
from stello_graph.interchange.jsonl.reading import (
    Terms,
    Unreadable,
    check_header,
    cleaned,
    fields_of,
    is_plain,
    kind_of,
    read_beside,
    read_session,
    read_space,
)
from stello_graph.interchange.plan import Repaired, Skipped
from stello_graph.model.copies import RefCopy, SessionCopy

__all__ = ["Entry", "Run", "Scan", "lines_of"]

TOO_LONG: Final = "longer than a line may be"
TWICE: Final = "the file has it before"
NO_SESSION: Final = "its session is not in the file"
LABEL: Final = "its label was no label: it is another now"

_STEP: Final = 500


@dataclass(slots=True)
class Run:
    """Lines that follow each other: from byte `start` to before `end`, the first of number `line`."""

    start: int
    end: int
    line: int


@dataclass(slots=True)
class Entry:
    """What is known of a session before its lines are read again.

    Attributes:
        line: number of its own line; 0 where that did not come yet.
    """

    id: str
    line: int = 0
    parent_id: str | None = None
    index: int = 0
    refs: tuple[RefCopy, ...] = ()
    runs: list[Run] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many bytes its lines have."""
        return sum(run.end - run.start for run in self.runs)


class Scan:
    """Reads a file once.

    Attributes:
        sessions: those that the file tells of, by id.
        beside: lines of what belongs to no session.
        remarks: what is wrong, to be taken away after each step.
        at: how many bytes were read.
    """

    def __init__(self, stream: IO[bytes], terms: Terms) -> None:
        self.sessions: dict[str, Entry] = {}
        self.beside: list[Run] = []
        self.remarks: list[Skipped | Repaired] = []
        self.at = 0
        self._stream = stream
        self._terms = terms
        self._names: set[tuple[Kind, str]] = set()

    def steps(self) -> Iterator[bool]:
        """Reads on with each step.

        Raises:
            InvalidInput: the file does not begin with a header that is known.
        """
        place = 0
        for number, (start, end, line) in enumerate(lines_of(self._stream, self._terms.max_line), 1):
            self.at = end
            if number == 1:
                check_header(line or b"")
                continue
            try:
                if line is None:
                    raise Unreadable(TOO_LONG)
                if line.strip():
                    self._take(line, Run(start, end, number))
            except Unreadable as error:
                what = f", {error.field}" if error.field else ""
                self.remarks.append(Skipped(where=f"line {number}{what}", why=error.why))
            place += 1
            if place % _STEP == 0:
                yield True
        yield from self._drop_strays()
        yield True

    def _take(self, line: bytes, run: Run) -> None:
        fields = fields_of(line)
        kind = kind_of(fields)
        if kind in (Kind.TURN, Kind.MESSAGE):
            session_id = fields.get("session")
            if not isinstance(session_id, str):
                raise Unreadable(NO_SESSION)
            _add(self._entry(session_id).runs, run)
            return
        fields, changes = cleaned(fields, is_plain(line))
        where = f"line {run.line}, {kind}"
        match kind:
            case Kind.SESSION:
                copy, changed = read_session(fields, self._terms)
                self._add_session(copy, run)
                where, changes = f"{where} {copy.id}", changes + [LABEL] * changed
            case Kind.SPACE:
                read_space(fields, self._terms)
                self._note_name(Kind.SPACE, "")
                # First of all: what comes beside it makes the Space one that is used.
                self.beside.insert(0, run)
            case _:
                self._note_name(kind, read_beside(kind, fields, self._terms)[0])
                _add(self.beside, run)
        self.remarks += [Repaired(where=where, why=why) for why in changes]

    def _add_session(self, copy: SessionCopy, run: Run) -> None:
        entry = self._entry(copy.id)
        if entry.line:
            raise Unreadable(TWICE)
        entry.line, entry.parent_id, entry.index = run.line, copy.parent_id, copy.index
        entry.refs = copy.refs
        _add(entry.runs, run)

    def _note_name(self, kind: Kind, name: str) -> None:
        if (kind, name) in self._names:
            raise Unreadable(TWICE)
        self._names.add((kind, name))

    def _entry(self, id: str) -> Entry:
        return self.sessions.setdefault(id, Entry(id))

    def _drop_strays(self) -> Iterator[bool]:
        """Turns and messages of a session that has no line; as `steps`."""
        dropped = 0
        for entry in [entry for entry in self.sessions.values() if not entry.line]:
            del self.sessions[entry.id]
            for run in entry.runs:
                lines = lines_of(self._stream, self._terms.max_line, run)
                for number, _ in enumerate(lines, run.line):
                    where = f"line {number}, session {entry.id[:128]}"
                    self.remarks.append(Skipped(where=where, why=NO_SESSION))
                    dropped += 1
                    if dropped % _STEP == 0:
                        yield True


def lines_of(
    stream: IO[bytes], max_line: int, run: Run | None = None
) -> Iterator[tuple[int, int, bytes | None]]:
    """Each line with the bytes where it starts and ends; None for one that is too long."""
    start = 0 if run is None else run.start
    stream.seek(start)
    while run is None or start < run.end:
        line: bytes | None = stream.readline(max_line + 1)
        if not line:
            return
        end = start + len(line)
        if len(line) > max_line and not line.endswith(b"\n"):
            end, line = _pass_over(stream, end), None
        yield start, end, line
        start = end


def _pass_over(stream: IO[bytes], at: int) -> int:
    """Where the line ends that stands at `at`."""
    while piece := stream.readline(1 << 18):
        at += len(piece)
        if piece.endswith(b"\n"):
            break
    return at


def _add(runs: list[Run], run: Run) -> None:
    if runs and runs[-1].end == run.start:
        runs[-1].end = run.end
    else:
        runs.append(run)
