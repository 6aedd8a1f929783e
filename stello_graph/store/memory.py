"""L2, insights and compressions."""

from typing import Any

from stello_graph.errors import Conflict, NotFound
from stello_graph.model.session import Session
from stello_graph.model.turn import Turn
from stello_graph.model.values import Usage
from stello_graph.model.writes import CompressionDraft, DigestPage, SessionFilter
from stello_graph.store import rows
from stello_graph.store.engine import Row
from stello_graph.store.queries import Query, named
from stello_graph.store.repository import Repository

__all__ = ["DigestRepository", "MemoryRepository"]

PUT = named("memory/put")
STORE_DIGEST = named("memory/store_digest")
STORE_COMPRESSION = named("memory/store_compression")
COUNT_USAGE = named("memory/count_usage")
PUT_INSIGHT = named("memory/put_insight")
CLEAR_INSIGHT = named("memory/clear_insight")
DIGESTS = named("memory/digests")
DIGESTS_OF_ROOT = named("memory/digests_of_root")


class MemoryRepository(Repository):
    """See SessionStore."""

    async def put_memory(self, session_id: str, content: str) -> Session:
        """See SessionStore."""
        return self._session(await self._change(PUT, session_id, {"by": "put"}, content=content), session_id)

    async def store_digest(self, session_id: str, content: str, *, revision: int, usage: Usage) -> Session:
        """See SessionStore."""
        found = await self._change(
            STORE_DIGEST,
            session_id,
            {"by": "consolidate"},
            content=content,
            revision=revision,
            usage=usage.model_dump(by_alias=True),
        )
        row = self._checked(found, session_id)
        if row["outcome"] == "CHANGED":
            raise Conflict(
                f'the memory of session "{session_id}" was changed meanwhile; it was left as it is'
            )
        return rows.session(row)

    async def store_compression(
        self, session_id: str, draft: CompressionDraft, *, usage: Usage, turn: Turn | None = None
    ) -> Session:
        """See SessionStore."""
        found = await self._change(
            STORE_COMPRESSION,
            session_id,
            {"by": "compress", "throughSeq": draft.through_seq},
            turnKey=None if turn is None else self._key(turn.id),
            fence=None if turn is None else turn.fence,
            extends=draft.extends,
            firstSeq=draft.first_seq,
            throughSeq=draft.through_seq,
            summary=draft.summary,
            tokens=draft.tokens,
            usage=usage.model_dump(by_alias=True),
        )
        row = self._checked(found, session_id)
        match row["outcome"]:
            case "LOST":
                raise Conflict(f'session "{session_id}" is no longer held by the turn that compressed it')
            case "CHANGED":
                raise Conflict(
                    f'the transcript of session "{session_id}" was compressed or trimmed meanwhile; '
                    "it was left as it is"
                )
        return rows.session(row)

    async def count_usage(self, session_id: str, usage: Usage) -> None:
        """See SessionStore."""
        event = self._event()
        found = await self._engine.write(
            COUNT_USAGE,
            space=self._space_id,
            key=self._key(session_id),
            op=event["op"],
            receiptKey=event["eventKey"],
            usage=usage.model_dump(by_alias=True),
        )
        self._checked(found, session_id)

    async def put_insight(self, session_id: str, content: str, source_session_id: str | None) -> Session:
        """See SessionStore."""
        data = {"sourceSessionId": source_session_id}
        found = await self._change(PUT_INSIGHT, session_id, data, content=content, source=source_session_id)
        return self._session(found, session_id)

    async def clear_insight(self, session_id: str) -> Session:
        """See SessionStore."""
        return self._session(await self._change(CLEAR_INSIGHT, session_id, {"insight": None}), session_id)

    async def _change(self, query: Query, session_id: str, data: dict[str, Any], **params: Any) -> list[Row]:
        return await self._engine.write(
            query, **self._event(), **self._target(session_id), data=rows.to_json(data), **params
        )


class DigestRepository(Repository):
    """See SpaceStore."""

    async def digests(
        self, which: SessionFilter, *, changed_after: int, after: str, first: int
    ) -> DigestPage:
        """See SpaceStore."""
        common = {
            "space": self._space_id,
            "after": self._key(after),
            "first": first,
            "status": which.status,
            "changedAfter": changed_after,
        }
        if which.root_id is None:
            found = await self._engine.read(DIGESTS, prefix=self._key(""), **common)
        else:
            found = await self._engine.read(DIGESTS_OF_ROOT, rootId=which.root_id, **common)
        if not found:
            raise NotFound.of("space", self._space_id)
        return DigestPage(event_seq=found[0]["eventSeq"], digests=rows.digests(found[0]["digests"]))
