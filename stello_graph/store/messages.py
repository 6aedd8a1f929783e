"""Transcripts."""

from collections.abc import Callable, Sequence

from stello_graph.errors import Conflict, NotFound
from stello_graph.model.context import Conversation
from stello_graph.model.message import Draft, Message, MessageRole
from stello_graph.model.parts import Only
from stello_graph.model.session import Session
from stello_graph.model.writes import Idempotency
from stello_graph.store import rows
from stello_graph.store.engine import Row
from stello_graph.store.places import shows_transcript
from stello_graph.store.queries import Query, named
from stello_graph.store.repository import Repository

__all__ = ["MessageRepository"]

CONVERSATION = named("sessions/conversation")
WHOLE_CONVERSATION = named("sessions/whole_conversation")
NEWEST = named("messages/newest")
OLDEST = named("messages/oldest")
COUNT = named("messages/count")
APPEND = named("messages/append")
TRIM = named("messages/trim")


class MessageRepository(Repository):
    """See SessionStore."""

    async def conversation(self, session_id: str) -> Conversation:
        """See SessionStore."""
        return await self._conversation(
            CONVERSATION, session_id, lambda row: shows_transcript(row, row.get("compressionThroughSeq") or 0)
        )

    async def whole_conversation(self, session_id: str) -> Conversation:
        """See SessionStore."""
        return await self._conversation(WHOLE_CONVERSATION, session_id, lambda row: shows_transcript(row, 0))

    async def newest_messages(
        self,
        session_ids: Sequence[str],
        *,
        after: int,
        before: int,
        first: int,
        roles: Sequence[MessageRole] | None,
        only: Only | None = None,
    ) -> dict[str, list[Message]]:
        """See SessionStore."""
        return await self._page(NEWEST, session_ids, after, before, first, roles, only)

    async def oldest_messages(
        self,
        session_ids: Sequence[str],
        *,
        after: int,
        before: int,
        first: int,
        roles: Sequence[MessageRole] | None,
        only: Only | None = None,
    ) -> dict[str, list[Message]]:
        """See SessionStore."""
        return await self._page(OLDEST, session_ids, after, before, first, roles, only)

    async def count_messages(
        self, session_ids: Sequence[str], roles: Sequence[MessageRole]
    ) -> dict[str, int]:
        """See SessionStore."""
        keys = [self._key(id) for id in session_ids]
        found = await self._engine.read(COUNT, keys=keys, roles=list(roles))
        return {self._id(row["key"]): row["count"] for row in found}

    async def append(
        self,
        session_id: str,
        messages: Sequence[Draft],
        *,
        idempotency: Idempotency | None = None,
        expected_seq: int | None = None,
        turns: int = 0,
    ) -> tuple[int, int]:
        """See SessionStore."""
        found = await self._engine.write(
            APPEND,
            **self._event(),
            **self._target(session_id),
            data=rows.to_json({"appended": len(messages)}),
            messages=await self._message_rows(session_id, messages),
            expectedSeq=expected_seq,
            turns=turns,
            **self._idempotency(idempotency),
        )
        row = self._checked(found, session_id)
        if row["outcome"] == "CONTINUED":
            raise Conflict(f'session "{session_id}" was continued meanwhile')
        return row["firstSeq"], row["lastSeq"]

    async def trim(self, session_id: str, keep_last: int) -> Session:
        """See SessionStore."""
        found = await self._write(
            TRIM,
            **self._event(),
            **self._target(session_id),
            data=rows.to_json({"keepLast": keep_last}),
            keepLast=keep_last,
        )
        return self._session(found, session_id)

    async def _conversation(
        self, query: Query, session_id: str, is_all: Callable[[Row], bool]
    ) -> Conversation:
        found = await self._agreed(
            lambda: self._engine.read(query, space=self._space_id, key=self._key(session_id)),
            lambda found: all(map(is_all, found)),
        )
        conversations = rows.whole(rows.conversation, found)
        if not conversations:
            raise NotFound.of("session", session_id)
        return conversations[0]

    async def _page(
        self,
        query: Query,
        session_ids: Sequence[str],
        after: int,
        before: int,
        first: int,
        roles: Sequence[MessageRole] | None,
        only: Only | None = None,
    ) -> dict[str, list[Message]]:
        found = await self._engine.read(
            query,
            keys=[self._key(id) for id in session_ids],
            after=after,
            before=before,
            first=first,
            roles=None if roles is None else list(roles),
            columns=rows.columns_of(Message, only),
        )
        return {self._id(row["key"]): rows.messages(row["messages"], only) for row in found}
