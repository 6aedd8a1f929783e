"""The part of a Space's store that brings everything out and in again, as it is."""

from collections.abc import Sequence
from typing import Protocol

from stello_graph.model.copies import MessageCopy, RefDraft, RestoreDraft, SessionCopy
from stello_graph.model.knowledge import Record, SharedMemory, Skill
from stello_graph.model.profile import ForkProfile
from stello_graph.model.space import Space

__all__ = ["CopyStore"]


class CopyStore(Protocol):
    """Reads by pages, and writes of whole sessions. Each write is one transaction."""

    async def session_ids(self, *, after: str, first: int) -> list[str]:
        """A page of the ids of all sessions, in order, from after id `after`."""
        ...

    async def session_copies(self, ids: Sequence[str]) -> list[SessionCopy]:
        """Those that exist, in the order of `ids`."""
        ...

    async def message_copies(
        self, session_ids: Sequence[str], *, after: int, before: int, first: int
    ) -> dict[str, list[MessageCopy]]:
        """By session, the oldest `first` messages with after < seq < before, oldest first."""
        ...

    async def written_messages(self, ids: Sequence[str]) -> dict[str, tuple[str, int]]:
        """Of the messages that exist, the session that each was written in, and when."""
        ...

    async def taken_turns(self, ids: Sequence[str]) -> dict[str, str]:
        """Of the turns that exist, the session of each."""
        ...

    async def restore_space(self, space: Space) -> bool:
        """Takes name, configuration, usage and age.

        Returns:
            False where the Space was used, configured or filled before: it stays as it is.
        """
        ...

    async def restore_beside(
        self,
        *,
        records: Sequence[Record] = (),
        shared_memories: Sequence[SharedMemory] = (),
        skills: Sequence[Skill] = (),
        profiles: Sequence[ForkProfile] = (),
    ) -> None:
        """Stores them in this order, after what is there; what exists by its name stays as it is."""
        ...

    async def restore_sessions(self, drafts: Sequence[RestoreDraft], refs: Sequence[RefDraft]) -> bool:
        """Stores some hundreds of sessions with their links, all or none.

        Among siblings they have their places, after those that are there already.

        Returns:
            False where an id is taken by now, or a parent, the other end of a link or a message is gone.
        """
        ...
