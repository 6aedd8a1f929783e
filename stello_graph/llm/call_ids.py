"""Ids of calls in a provider's alphabet, each used once in a request. Pure."""

import hashlib
import re

__all__ = ["CallIds"]

_ILLEGAL = re.compile(r"[^A-Za-z0-9_-]")


class CallIds:
    """Gives calls the ids that they have in one request: stored ones may be foreign, long or repeated."""

    def __init__(self, longest: int) -> None:
        """
        Args:
            longest: characters of an id at most, 32 at least.
        """
        self._longest = longest
        self._current: dict[str, str] = {}
        self._used: set[str] = set()

    def new(self, id: str) -> str:
        """The id of the next call whose stored id is `id`: the same where it is legal and new."""
        legal = _ILLEGAL.sub("_", id)
        if legal != id or not 0 < len(legal) <= self._longest:
            mark = hashlib.sha256(id.encode("utf-8", "replace")).hexdigest()[:8]
            legal = f"{legal[: self._longest - 9]}_{mark}"
        unique, count = legal, 1
        while unique in self._used:
            count += 1
            ending = f"_{count}"
            unique = legal[: self._longest - len(ending)] + ending
        self._used.add(unique)
        self._current[id] = unique
        return unique

    def current(self, id: str) -> str:
        """The id that the newest call of that stored id was given."""
        return self._current.get(id, id)
