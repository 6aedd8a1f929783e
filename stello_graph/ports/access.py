"""What storage has to do for Spaces themselves and for the keys to them."""

from collections.abc import Sequence
from typing import Protocol

from stello_graph.model.keys import ApiKey, KeyDraft
from stello_graph.model.space import Space

__all__ = ["KeyStore", "SpacesStore"]


class KeyStore(Protocol):
    """Keys of all Spaces, and those of operators, which belong to none (`space_id` None)."""

    async def create_key(self, draft: KeyDraft, *, limit: int) -> ApiKey:
        """Stores a key. From then on `keys_in_use` is true for ever.

        Raises:
            NotFound: the Space.
            LimitExceeded: there are `limit` keys already that are not revoked.
        """
        ...

    async def find_keys(self, hashes: Sequence[str]) -> dict[str, ApiKey]:
        """By hash, the keys that are there and not revoked."""
        ...

    async def keys_of(self, space_id: str | None, *, first: int) -> list[ApiKey]:
        """The newest keys, newest first, the revoked ones too."""
        ...

    async def all_keys(self, *, first: int) -> list[ApiKey]:
        """Keys of all Spaces and of operators, in descending order of Space and age."""
        ...

    async def revoke_key(self, space_id: str | None, key_id: str) -> ApiKey:
        """A second time changes nothing. Raises NotFound."""
        ...

    async def touch_key(self, key: ApiKey, *, interval: float) -> None:
        """Writes that a key was used just now, unless that was written in the last `interval` seconds."""
        ...

    async def keys_in_use(self) -> bool:
        """Whether there ever was a key."""
        ...

    async def use_keys(self) -> None:
        """Remembers for ever that there was a key."""
        ...


class SpacesStore(Protocol):
    """The Spaces themselves."""

    async def ensure_space(self, space_id: str, name: str) -> Space:
        """Makes a Space where it is missing. Raises Conflict while one of that id is being deleted."""
        ...

    async def create_space(self, space_id: str, name: str) -> Space:
        """Makes a Space. Raises Conflict where the id is taken, or is being deleted."""
        ...

    async def spaces(self, *, after: str, first: int) -> list[Space]:
        """A page of the Spaces, by id, from after id `after`."""
        ...

    async def delete_space(self, space_id: str, expected_count: int) -> None:
        """Takes a Space away with its keys, at once; `sweep_space` deletes what was in it.

        Raises:
            NotFound: the Space.
            Conflict: it has another number of sessions: `details["count"]`.
        """
        ...

    async def deleted_spaces(self, *, first: int) -> list[str]:
        """The ids of deleted Spaces of which something is left."""
        ...

    async def sweep_space(self, space_id: str, *, delay: float) -> bool:
        """Deletes a part of what was in a deleted Space; False before `delay` seconds are over."""
        ...
