"""Ids on their way into a store: as the file has them, or all new."""

import hashlib
import secrets
import time
from collections.abc import Iterable

from stello_graph.ids import id_of, new_id
from stello_graph.interchange.jsonl.lines import Kind
from stello_graph.interchange.jsonl.scan import Entry

__all__ = ["Ids", "Renewed"]


class Ids:
    """Everything keeps its id, but for messages and turns whose ids others have.

    A message is named with its home, the session of the file that tells it in full, a turn with its session.
    """

    def __init__(self) -> None:
        self._others: dict[tuple[Kind, str, str], str] = {}

    def session(self, id: str) -> str:
        """What becomes of the id of a session. One that the file does not tell of stays what it is."""
        return id

    def other(self, kind: Kind, home: str, id: str) -> str:
        """What becomes of the id of a message or a turn."""
        return self._others.get((kind, home, id)) or self._made(id)

    def replace(self, kind: Kind, home: str, id: str) -> str:
        """Gives a message or a turn another id, since somebody has its own."""
        other = self._others[kind, home, id] = new_id()
        return other

    def is_replaced(self, kind: Kind, home: str, id: str) -> bool:
        """Whether it was given another id."""
        return (kind, home, id) in self._others

    def _made(self, id: str) -> str:
        return id


class Renewed(Ids):
    """Everything gets a new id, the same wherever it is named. Sessions stay in their order."""

    def __init__(self, sessions: Iterable[Entry]) -> None:
        super().__init__()
        self._now = time.time_ns() // 1_000_000
        self._salt = secrets.token_bytes(16)
        self._sessions = {
            entry.id: id_of(self._now, (place << 48) | secrets.randbits(48))
            for place, entry in enumerate(sorted(sessions, key=lambda entry: entry.id))
        }

    def session(self, id: str) -> str:
        """See Ids."""
        return self._sessions.get(id, id)

    def _made(self, id: str) -> str:
        hashed = hashlib.blake2b(id.encode(), digest_size=10, key=self._salt).digest()
        return id_of(self._now, int.from_bytes(hashed))
