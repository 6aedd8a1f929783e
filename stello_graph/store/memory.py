"""L2, insights, compressions, and what a tree's digests are integrated to."""

from collections.abc import Sequence
from typing import Any

from stello_graph.errors import Conflict, ErrorCode, NotFound, SessionArchived
from stello_graph.ids import new_id
from stello_graph.model.context import Conversation
from stello_graph.model.memory import InsightDraft, IntegrationDraft, ToIntegrate, TreeNode
from stello_graph.model.parts import Only
from stello_graph.model.session import Session, SessionDigest
from stello_graph.model.turn import Turn
from stello_graph.model.values import SessionStatus, Usage
from stello_graph.model.writes import CompressionDraft, DigestPage, SessionFilter
from stello_graph.store import rows
from stello_graph.store.engine import Row
from stello_graph.store.indexing import memory_terms
from stello_graph.store.places import shows_newest
from stello_graph.store.queries import Query, named
from stello_graph.store.repository import Repository

__all__ = ["DigestRepository", "MemoryRepository"]

UNDIGESTED = named("sessions/undigested")
PUT = named("memory/put")
STORE_DIGEST = named("memory/store_digest")
STORE_COMPRESSION = named("memory/store_compression")
REPORT_FAILURE = named("memory/report_failure")
COUNT_USAGE = named("memory/count_usage")
PUT_INSIGHT = named("memory/put_insight")
CLEAR_INSIGHT = named("memory/clear_insight")
PUT_INSIGHTS = named("memory/put_insights")
DIGESTS = named("memory/digests")
DIGESTS_OF_ROOT = named("memory/digests_of_root")
TO_INTEGRATE = named("memory/to_integrate")
TREE = named("memory/tree")
STORE_ROLLUP = named("memory/store_rollup")
INTEGRATE = named("memory/integrate")


class MemoryRepository(Repository):
    """See SessionStore."""

    async def undigested(self, session_id: str, first: int) -> Conversation:
        """See SessionStore."""
        key = self._key(session_id)
        found = await self._agreed(
            lambda: self._engine.read(UNDIGESTED, space=self._space_id, key=key, first=first),
            lambda found: all(map(shows_newest, found)),
        )
        conversations = rows.whole(rows.conversation, found)
        if not conversations:
            raise NotFound.of("session", session_id)
        return conversations[0]

    async def put_memory(self, session_id: str, content: str) -> Session:
        """See SessionStore."""
        terms = memory_terms(self._space_id, content)
        found = await self._change(PUT, session_id, {"by": "put"}, content=content, terms=terms)
        return self._session(found, session_id)

    async def store_digest(
        self,
        session_id: str,
        content: str,
        *,
        revision: int,
        through_seq: int,
        usage: Usage,
        even_archived: bool = False,
    ) -> Session:
        """See SessionStore."""
        found = await self._change(
            STORE_DIGEST,
            session_id,
            {"by": "consolidate"},
            content=content,
            terms=memory_terms(self._space_id, content),
            revision=revision,
            throughSeq=through_seq,
            evenArchived=even_archived,
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

    async def report_failure(self, session_id: str, task: str, code: ErrorCode, message: str) -> None:
        """See SessionStore."""
        told = {"task": task, "code": code, "message": message}
        self._checked(await self._change(REPORT_FAILURE, session_id, told), session_id)

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
        self,
        which: SessionFilter,
        *,
        changed_after: int,
        after: str,
        first: int,
        only: Only | None = None,
    ) -> DigestPage:
        """See SpaceStore."""
        common = {
            "space": self._space_id,
            "after": self._key(after),
            "first": first,
            "status": which.status,
            "changedAfter": changed_after,
            "columns": rows.columns_of(SessionDigest, only),
        }
        if which.root_id is None:
            found = await self._engine.read(DIGESTS, prefix=self._key(""), **common)
        else:
            found = await self._engine.read(DIGESTS_OF_ROOT, rootId=which.root_id, **common)
        if not found:
            raise NotFound.of("space", self._space_id)
        return DigestPage(event_seq=found[0]["eventSeq"], digests=rows.digests(found[0]["digests"], only))

    async def put_insights(self, insights: Sequence[InsightDraft]) -> list[Session]:
        """See SpaceStore."""
        if not insights:
            return []
        given = self._given(insights)
        found = await self._engine.write(
            PUT_INSIGHTS,
            space=self._space_id,
            op=new_id(),
            eventKey=next(iter(given.values()))["eventKey"],
            keys=list(given),
            insights=list(given.values()),
        )
        sessions = {row["id"]: rows.session(row) for row in found}
        asked = [insight.session_id for insight in insights]
        if not found or found[0]["outcome"] == "REFUSED":
            self._refuse(asked, sessions)
        return [sessions[id] for id in asked if id in sessions]

    async def to_integrate(self, session_id: str, first: int) -> ToIntegrate:
        """See SpaceStore."""
        found = await self._engine.read(
            TO_INTEGRATE, space=self._space_id, key=self._key(session_id), rootId=session_id, first=first
        )
        if not found:
            raise NotFound.of("session", session_id)
        row = found[0]
        return ToIntegrate(
            through_seq=row["throughSeq"],
            session=rows.session(row),
            config=rows.space_config(row["space"]),
            digests=rows.digests(row["digests"]),
        )

    async def tree(self, root_id: str, first: int) -> list[TreeNode]:
        """See SpaceStore."""
        found = await self._engine.read(TREE, space=self._space_id, rootId=root_id, first=first)
        return rows.whole(TreeNode.model_validate, found)

    async def store_rollup(self, session_id: str, rollup: str, *, through_seq: int, usage: Usage) -> bool:
        """See SpaceStore."""
        found = await self._engine.write(
            STORE_ROLLUP,
            **self._event(),
            **self._target(session_id),
            data=rows.to_json({"fields": ["rollup"]}),
            rollup=rollup,
            throughSeq=through_seq,
            usage=usage.model_dump(by_alias=True),
        )
        return bool(found) and found[0]["outcome"] in ("DONE", "DONE_BEFORE")

    async def store_integration(self, session_id: str, draft: IntegrationDraft) -> list[str]:
        """See SpaceStore."""
        given = self._given(
            [one.model_copy(update={"source_session_id": session_id}) for one in draft.insights]
        )
        found = await self._engine.write(
            INTEGRATE,
            **self._event(),
            **self._target(session_id),
            keys=sorted({*given, self._key(session_id)}),
            insights=given,
            synthesis=draft.synthesis,
            throughSeq=draft.through_seq,
            revision=draft.revision,
            usage=draft.usage.model_dump(by_alias=True),
        )
        row = self._checked(found, session_id)
        if row["outcome"] == "CHANGED":
            raise Conflict(f'the synthesis of session "{session_id}" was changed meanwhile')
        return list(row["told"])

    def _given(self, insights: Sequence[InsightDraft]) -> dict[str, dict[str, Any]]:
        """Insights by the key of their session, in the order in which sessions are locked."""
        return {
            key: {
                "key": key,
                "content": insight.content,
                "source": insight.source_session_id,
                "eventKey": self._key(new_id()),
                "data": rows.to_json({"sourceSessionId": insight.source_session_id}),
            }
            for key, insight in sorted(
                ((self._key(one.session_id), one) for one in insights), key=lambda pair: pair[0]
            )
        }

    def _refuse(self, asked: Sequence[str], sessions: dict[str, Session]) -> None:
        for id in asked:
            if id not in sessions:
                raise NotFound.of("session", id)
        for id in asked:
            if sessions[id].status is SessionStatus.ARCHIVED:
                raise SessionArchived.of(id)
        raise Conflict("the sessions keep changing; try again")
