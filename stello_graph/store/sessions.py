"""Sessions: creating, forking, changing, deleting, listing."""

from collections.abc import Sequence
from typing import Any

from stello_graph.errors import Conflict, ForkRefused, LimitExceeded, NotFound, SessionArchived
from stello_graph.model.message import Message, MessagePage
from stello_graph.model.session import Session, SessionWithMessages
from stello_graph.model.space import Space, SplitGuard
from stello_graph.model.topology import TopologyEventType
from stello_graph.model.values import SessionStatus
from stello_graph.model.writes import ForkDraft, ForkSource, Idempotency, SessionDraft, SessionFilter
from stello_graph.store import rows
from stello_graph.store.engine import Row
from stello_graph.store.indexing import label_terms
from stello_graph.store.places import shows_around
from stello_graph.store.queries import named
from stello_graph.store.repository import Repository

__all__ = ["SessionsRepository"]

SPACE = named("spaces/get")
CONFIGURE = named("spaces/configure")
CREATE = named("sessions/create")
FORK_SOURCE = named("sessions/fork_source")
FORK = named("sessions/fork")
GET = named("sessions/get")
WITH_NEWEST = named("sessions/with_newest")
LIST = named("sessions/list")
LIST_OF_ROOT = named("sessions/list_of_root")
COUNT = named("sessions/count")
UPDATE = named("sessions/update")
SET_STATUS = named("sessions/set_status")
BELOW = named("sessions/below")
DELETE = named("sessions/delete")
ENTER = named("sessions/enter")
LEAVE = named("sessions/leave")

_RACES = 5
_STATUS_EVENT = {
    SessionStatus.ACTIVE: TopologyEventType.SESSION_UNARCHIVED,
    SessionStatus.ARCHIVED: TopologyEventType.SESSION_ARCHIVED,
}


class SessionsRepository(Repository):
    """See SpaceStore."""

    async def space(self) -> Space:
        """See SpaceStore."""
        found = await self._engine.read(SPACE, id=self._space_id)
        if not found:
            raise NotFound.of("space", self._space_id)
        return rows.space(found[0])

    async def configure(self, space: Space) -> Space | None:
        """See SpaceStore."""
        found = await self._engine.write(
            CONFIGURE,
            id=self._space_id,
            op=self._event()["op"],
            revision=space.revision,
            name=space.name,
            strategy=space.config.strategy,
            sharedMemory=space.config.shared_memory,
            config=rows.space_document(space),
            **rows.triggers(space.config),
        )
        return rows.space(found[0]) if found else None

    async def create_session(self, draft: SessionDraft, idempotency: Idempotency | None) -> Session:
        """See SpaceStore."""
        found = await self._engine.write(
            CREATE,
            **self._new(draft, idempotency),
            data=rows.to_json({"parentId": draft.parent_id, "label": draft.label}),
            role=draft.role,
            strategy=draft.strategy,
        )
        return self._created(found, draft)

    async def fork_source(
        self,
        session_id: str,
        through_seq: int | None,
        *,
        profile: str | None = None,
        idempotency: Idempotency | None = None,
    ) -> ForkSource:
        """See SpaceStore."""
        found = await self._agreed(
            lambda: self._engine.read(
                FORK_SOURCE,
                space=self._space_id,
                key=self._key(session_id),
                throughSeq=through_seq,
                profileKey=None if profile is None else self._key(profile),
                idempotencyKey=None if idempotency is None else self._key(idempotency.key),
            ),
            lambda found: all(shows_around(row["session"], row["tail"], through_seq) for row in found),
        )
        if not found:
            raise NotFound.of("session", session_id)
        row = found[0]
        sources = rows.sessions([row["session"]])
        if not sources:
            raise NotFound.of("session", session_id)
        return ForkSource(
            session=sources[0],
            space=rows.space(row["space"]),
            tail=tuple(rows.messages(row["tail"])),
            last_split=row["session"].get("splitTurn"),
            profile=None if row["profile"] is None else rows.profile(row["profile"]),
            made_before=self._made_before(row["known"], idempotency),
        )

    async def fork(self, draft: ForkDraft, idempotency: Idempotency | None) -> Session:
        """See SpaceStore."""
        data = {
            "parentId": draft.parent_id,
            "sourceSessionId": draft.source_id,
            "sourceSeq": draft.through_seq,
            "label": draft.label,
        }
        messages = draft.selected if draft.opening is None else (*draft.selected, draft.opening)
        found = await self._write(
            FORK,
            **self._new(draft, idempotency),
            data=rows.to_json(data),
            sourceKey=self._key(draft.source_id),
            sourceId=draft.source_id,
            throughSeq=draft.through_seq,
            inherits=draft.inherits,
            messages=[rows.draft_properties(self._space_id, draft.id, one) for one in messages],
            minTurns=None if draft.guard is None else draft.guard.min_turns,
            cooldownTurns=None if draft.guard is None else draft.guard.cooldown_turns,
            usage=draft.usage.model_dump(by_alias=True),
        )
        if not found:
            raise NotFound.of("session", draft.source_id)
        match found[0]["outcome"]:
            case "ARCHIVED":
                raise SessionArchived.of(draft.source_id)
            case "TOO_EARLY":
                guard = draft.guard or SplitGuard()
                missing = guard.missing_turns(found[0]["sourceTurns"], found[0].get("sourceSplit"))
                raise ForkRefused.too_early(draft.source_id, missing)
        return self._created(found, draft)

    async def sessions(self, ids: Sequence[str]) -> dict[str, Session]:
        """See SpaceStore."""
        found = await self._engine.read(GET, keys=[self._key(id) for id in ids])
        return {session.id: session for session in rows.sessions(found)}

    async def sessions_with_newest(
        self, ids: Sequence[str], page: MessagePage
    ) -> dict[str, SessionWithMessages]:
        """See SpaceStore."""
        found = await self._engine.read(
            WITH_NEWEST,
            keys=[self._key(id) for id in ids],
            after=page.after,
            before=page.before,
            first=page.first,
            roles=None if page.roles is None else list(page.roles),
            columns=rows.columns_of(Message, page.only),
        )
        whole = rows.whole(lambda row: rows.session_with_messages(row, page), found)
        return {session.id: session for session in whole}

    async def list_sessions(self, which: SessionFilter, *, after: str, first: int) -> list[Session]:
        """See SpaceStore."""
        common = {"after": self._key(after), "first": first, **self._filter(which)}
        if which.root_id is None:
            found = await self._engine.read(LIST, prefix=self._key(""), **common)
        else:
            found = await self._engine.read(
                LIST_OF_ROOT, space=self._space_id, rootId=which.root_id, **common
            )
        return rows.sessions(found)

    async def count_sessions(self, which: SessionFilter) -> int:
        """See SpaceStore."""
        found = await self._engine.read(
            COUNT, prefix=self._key(""), rootId=which.root_id, **self._filter(which)
        )
        return int(found[0]["count"])

    async def update_session(self, session_id: str, changes: dict[str, Any]) -> Session:
        """See SpaceStore."""
        stored = {
            name: rows.to_json(value) if name in ("skills", "metadata") and value is not None else value
            for name, value in changes.items()
        }
        if "label" in changes:
            stored["labelTerms"] = label_terms(self._space_id, changes["label"])
        found = await self._engine.write(
            UPDATE,
            **self._event(),
            **self._target(session_id),
            data=rows.to_json({"fields": sorted(changes)}),
            changes=stored,
        )
        return self._session(found, session_id)

    async def set_status(self, session_id: str, status: SessionStatus) -> tuple[Session, bool]:
        """See SpaceStore."""
        found = await self._engine.write(
            SET_STATUS,
            **self._event(),
            **self._target(session_id),
            data="{}",
            status=status,
            type=_STATUS_EVENT[status],
        )
        row = self._checked(found, session_id)
        return rows.session(row), row["outcome"] == "DONE"

    async def open_turns_below(self, session_id: str) -> tuple[int, list[str]]:
        """See SpaceStore."""
        found = await self._engine.read(BELOW, key=self._key(session_id))
        if not found:
            raise NotFound.of("session", session_id)
        return found[0]["count"], found[0]["openTurns"]

    async def delete_session(self, session_id: str, expected_count: int, limit: int) -> list[str]:
        """See SpaceStore."""
        event = self._event()
        for _ in range(_RACES):
            found = await self._engine.write(
                DELETE, **event, **self._target(session_id), expectedCount=expected_count, limit=limit
            )
            if not found:
                raise NotFound.of("session", session_id)
            row = found[0]
            match row["outcome"]:
                case "DONE" | "DONE_BEFORE":
                    return list(row["ids"])
                case "TOO_MANY":
                    raise LimitExceeded(f"at most {limit} sessions are deleted at once", count=row["count"])
                case "COUNT":
                    raise Conflict(
                        f"{row['count']} sessions would go, not {expected_count}", count=row["count"]
                    )
        raise Conflict("the subtree keeps changing; try again")

    async def enter(self, session_id: str, holder: str) -> tuple[Session, str | None]:
        """See SpaceStore."""
        keys = {"key": self._key(session_id), "holderKey": self._key(holder), "op": self._event()["op"]}
        for _ in range(_RACES):
            row = self._checked(await self._engine.write(ENTER, **keys), session_id)
            if row["outcome"] == "DONE":
                left = row["left"]
                return rows.session(row), None if left is None else self._id(left)
        raise Conflict("the holder keeps leaving; try again")

    async def leave(self, session_id: str, holder: str) -> tuple[Session, bool]:
        """See SpaceStore."""
        keys = {"key": self._key(session_id), "holderKey": self._key(holder), "op": self._event()["op"]}
        row = self._checked(await self._engine.write(LEAVE, **keys), session_id)
        return rows.session(row), row["outcome"] == "DONE"

    def _new(self, draft: SessionDraft, idempotency: Idempotency | None) -> dict[str, Any]:
        return {
            **self._event(),
            **self._target(draft.id),
            **self._idempotency(idempotency),
            "parentKey": None if draft.parent_id is None else self._key(draft.parent_id),
            "parentId": draft.parent_id,
            "label": draft.label,
            "labelTerms": label_terms(self._space_id, draft.label),
            "systemPrompt": draft.system_prompt,
            "skills": None if draft.skills is None else rows.to_json(draft.skills),
            "tags": list(draft.tags),
            "metadata": rows.to_json({} if draft.metadata is None else draft.metadata),
            "overrides": dict(draft.overrides),
        }

    def _made_before(self, known: Row | None, idempotency: Idempotency | None) -> str | None:
        if known is None or idempotency is None:
            return None
        if known["op"] != "fork" or known["inputHash"] != idempotency.input_hash:
            raise Conflict("this idempotency key was used for another input")
        return str(known["resultId"])

    def _created(self, found: list[Row], draft: SessionDraft) -> Session:
        if not found:
            raise NotFound.of("space", self._space_id)
        match found[0]["outcome"]:
            case "TAKEN":
                raise Conflict(f'there is a session "{draft.id}" already')
            case "NO_PARENT":
                raise NotFound.of("session", draft.parent_id or "")
            case "ARCHIVED_PARENT":
                raise SessionArchived.of(draft.parent_id or "")
            case "NO_CUT":
                raise Conflict("the messages to inherit were trimmed away meanwhile")
        return self._session(found, draft.id)

    def _filter(self, which: SessionFilter) -> dict[str, Any]:
        return {"status": which.status, "role": which.role, "tag": which.tag}
