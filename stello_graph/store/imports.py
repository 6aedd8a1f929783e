"""Sessions that come from elsewhere."""

import asyncio
from collections import Counter
from collections.abc import Awaitable, Sequence

from stello_graph.errors import Conflict, NotFound
from stello_graph.ids import new_id
from stello_graph.model.message import turns_of
from stello_graph.model.topology import TopologyEventType
from stello_graph.model.writes import ImportDraft, PlacedDraft, StoredTranscript
from stello_graph.store import rows
from stello_graph.store.engine import Row
from stello_graph.store.indexing import label_terms, memory_terms
from stello_graph.store.queries import named
from stello_graph.store.repository import Repository
from stello_graph.store.topology import NODES

__all__ = ["ImportRepository"]

STATE = named("imports/state")
SESSION = named("imports/session")
SESSIONS = named("imports/sessions")


class ImportRepository(Repository):
    """See SpaceStore."""

    async def stored_transcripts(
        self, conversation_ids: Sequence[str]
    ) -> dict[str, dict[str, StoredTranscript]]:
        """See SpaceStore."""
        found = await self._agreed(
            lambda: self._engine.read(STATE, keys=[self._key(id) for id in conversation_ids]),
            lambda found: all(row["messageCount"] in (None, len(row["messageIds"])) for row in found),
        )
        stored: dict[str, dict[str, StoredTranscript]] = {id: {} for id in conversation_ids}
        for row in found:
            id = self._id(row["key"])
            stored[self._id(row["conversation"])][id] = StoredTranscript(
                id=id, next_seq=row["nextSeq"], message_ids=tuple(row["messageIds"])
            )
        return stored

    async def import_session(self, draft: ImportDraft) -> bool:
        """See SpaceStore."""
        found = await self._write(
            SESSION,
            **self._event(),
            **self._target(draft.id),
            type=_event_type(draft.source_id),
            data=rows.to_json(_event_data(draft, draft.parent_id, draft.through_seq)),
            parentKey=None if draft.parent_id is None else self._key(draft.parent_id),
            parentId=draft.parent_id,
            sourceKey=None if draft.through_seq is None else self._key(draft.source_id or ""),
            sourceId=draft.source_id,
            throughSeq=draft.through_seq,
            label=draft.label,
            labelTerms=label_terms(self._space_id, draft.label),
            role=draft.role,
            status=draft.status,
            systemPrompt=draft.system_prompt,
            skills=None if draft.skills is None else rows.to_json(draft.skills),
            tags=list(draft.tags),
            metadata=rows.to_json({} if draft.metadata is None else draft.metadata),
            memory=draft.memory,
            memoryTerms=None if draft.memory is None else memory_terms(self._space_id, draft.memory),
            insight=draft.insight,
            synthesis=draft.synthesis,
            turnCount=draft.turn_count,
            messages=await self._message_rows(draft.id, draft.messages),
            createdAt=draft.created_at,
            updatedAt=draft.updated_at,
            lastActiveAt=draft.last_active_at or draft.updated_at,
        )
        if not found:
            raise NotFound.of("space", self._space_id)
        outcome: str = found[0]["outcome"]
        match outcome:
            case "NO_PARENT":
                raise NotFound.of("session", draft.parent_id or draft.source_id or "")
            case "NO_CUT":
                raise Conflict("the messages to share are not there")
        return outcome != "TAKEN"

    async def import_sessions(
        self, drafts: Sequence[PlacedDraft], after: Awaitable[object] | None = None
    ) -> bool:
        """See SpaceStore."""
        children = Counter(draft.parent_id for draft in drafts)
        parents = sorted(id for id in children if id is not None)
        given, transcripts = await asyncio.to_thread(
            lambda: (
                self._placed(drafts, {id: place for place, id in enumerate(parents)}),
                [self._transcript(draft) for draft in drafts],
            )
        )
        if after is not None:
            await after
        if not given:
            return True
        found = await self._engine.write(
            SESSIONS,
            space=self._space_id,
            op=new_id(),
            eventKey=given[0]["eventKey"],
            keys=[one["key"] for one in given],
            parents=[{"key": self._key(id), "children": children[id]} for id in parents],
            sessions=given,
            transcripts=transcripts,
        )
        if not found:
            raise NotFound.of("space", self._space_id)
        if found[0]["outcome"] == "NO_PARENT":
            stored = await self._engine.read(NODES, keys=[self._key(id) for id in parents])
            there = {row["id"] for row in stored}
            raise NotFound.of("session", next((id for id in parents if id not in there), parents[0]))
        return bool(found[0]["outcome"] != "TAKEN")

    def _placed(self, drafts: Sequence[PlacedDraft], places: dict[str, int]) -> list[Row]:
        before: Counter[str | None] = Counter()
        given = []
        for draft in drafts:
            given.append(
                self._properties(draft)
                | {"parentPlace": places.get(draft.parent_id or ""), "offset": before[draft.parent_id]}
            )
            before[draft.parent_id] += 1
        return given

    def _properties(self, draft: PlacedDraft) -> Row:
        return {
            **self._target(draft.id),
            "eventKey": self._key(new_id()),
            "parentKey": None if draft.parent_id is None else self._key(draft.parent_id),
            "sourceId": draft.source_id,
            "type": _event_type(draft.source_id),
            "data": rows.to_json(_event_data(draft, draft.parent_id, None)),
            "label": draft.label,
            "labelTerms": label_terms(self._space_id, draft.label),
            "status": draft.status,
            "strategy": draft.strategy,
            "tags": list(draft.tags),
            "metadata": rows.to_json({} if draft.metadata is None else draft.metadata),
            "turnCount": turns_of(draft.messages),
            "messageCount": len(draft.messages),
            "createdAt": draft.created_at,
            "updatedAt": draft.updated_at if draft.updated_at is not None else draft.last_active_at,
            "lastActiveAt": draft.last_active_at if draft.last_active_at is not None else draft.updated_at,
        }

    def _transcript(self, draft: PlacedDraft) -> Row:
        messages = [rows.draft_properties(self._space_id, draft.id, one) for one in draft.messages]
        return {"key": self._key(draft.id), "messages": messages}


def _event_type(source_id: str | None) -> TopologyEventType:
    return TopologyEventType.SESSION_CREATED if source_id is None else TopologyEventType.SESSION_FORKED


def _event_data(draft: ImportDraft | PlacedDraft, parent_id: str | None, through_seq: int | None) -> Row:
    """What an event tells of a session that is made otherwise, and that it was imported."""
    told = {"parentId": parent_id, "label": draft.label, "imported": True}
    if draft.source_id is None:
        return told
    return told | {"sourceSessionId": draft.source_id, "sourceSeq": through_seq}
