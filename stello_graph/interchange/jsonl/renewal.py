"""Ids on their way into a store: as the file has them, or all new."""

import hashlib
import secrets
import time
from collections.abc import Iterable
from typing import Protocol

from stello_graph.ids import id_of
from stello_graph.interchange.jsonl.scan import Entry

__all__ = ["Ids", "Kept", "Renewed"]


class Ids(Protocol):
    """What becomes of the ids of a file. One that the file does not tell of stays what it is."""

    def session(self, id: str) -> str:
        """Of a session."""
        ...

    def other(self, id: str) -> str:
        """Of a message or a turn of the file."""
        ...


class Kept:
    """Everything keeps its id."""

    def session(self, id: str) -> str:
        """See Ids."""
        return id

    def other(self, id: str) -> str:
        """See Ids."""
        return id


class Renewed:
    """Everything gets a new id, the same wherever it is named. Sessions stay in their order."""

    def __init__(self, sessions: Iterable[Entry]) -> None:
        self._now = time.time_ns() // 1_000_000
        self._salt = secrets.token_bytes(16)
        self._sessions = {
            entry.id: id_of(self._now, (place << 48) | secrets.randbits(48))
            for place, entry in enumerate(sorted(sessions, key=lambda entry: entry.id))
        }

    def session(self, id: str) -> str:
        """See Ids."""
        return self._sessions.get(id, id)

    def other(self, id: str) -> str:
        """See Ids."""
        hashed = hashlib.blake2b(id.encode(), digest_size=10, key=self._salt).digest()
        return id_of(self._now, int.from_bytes(hashed))
