"""Where the places of a transcript go when its gaps are closed, for all that points at places."""

from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence

from stello_graph.interchange.jsonl.loading import Loaded, Loader
from stello_graph.model.message import Message

__all__ = ["Moved", "Moves"]

_Homed = Mapping[tuple[str, str], Message]


class Moved:
    """Of one transcript: the newest message keeps its place, and those before it stand right before it."""

    def __init__(self, seqs: Sequence[int]) -> None:
        """`seqs`: the places of the messages that can be stored, as the file has them, in order."""
        self._seqs = seqs
        self._first = seqs[-1] + 1 - len(seqs) if seqs else 0
        self.has_gaps = bool(seqs) and self._first != seqs[0]

    def first(self, seq: int) -> int:
        """Where something begins that began at `seq`."""
        return self._among(seq, bisect_left(self._seqs, seq))

    def last(self, seq: int) -> int:
        """Where something ends that ended at `seq`."""
        return self._among(seq, bisect_right(self._seqs, seq) - 1)

    def _among(self, seq: int, number: int) -> int:
        if not self.has_gaps or seq > self._seqs[-1]:
            return seq
        # What was trimmed away stays as far before the first as it was.
        return self._first + (number if seq >= self._seqs[0] else seq - self._seqs[0])


_STAYS = Moved(())


class Moves:
    """Of the sessions of one file, as far as they were looked at."""

    def __init__(self, loader: Loader) -> None:
        self._loader = loader
        self._found: dict[str, Moved] = {}

    def of(self, session_id: str) -> Moved:
        """Of one session; one that the file does not tell of stays as it is."""
        return self._found.get(session_id, _STAYS)

    def look_at(self, lot: Mapping[str, Loaded], homed: _Homed) -> None:
        """At some sessions, and at what they were forked from. `homed`: what they share, by home and id."""
        for id, loaded in lot.items():
            self._found[id] = _moved(loaded, homed)
        for loaded in lot.values():
            source_id = loaded.copy.source_session_id
            if source_id is not None and source_id not in self._found and source_id in self._loader.sessions:
                source = self._loader.load(self._loader.sessions[source_id])
                self._found[source_id] = _moved(source, self._loader.at_home({source_id: source}))


def _moved(loaded: Loaded, homed: _Homed) -> Moved:
    found = Moved(
        [one.seq for one in loaded.told if one.message is not None or (one.home, one.message_id) in homed]
    )
    return found if found.has_gaps else _STAYS
