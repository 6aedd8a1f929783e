"""Sessions that come from elsewhere."""

from stello_graph.errors import Conflict, NotFound
from stello_graph.model.topology import TopologyEventType
from stello_graph.model.writes import ImportDraft, StoredTranscript
from stello_graph.store import rows
from stello_graph.store.engine import Row
from stello_graph.store.indexing import label_terms
from stello_graph.store.queries import named
from stello_graph.store.repository import Repository

__all__ = ["ImportRepository"]

STATE = named("imports/state")
SESSION = named("imports/session")


class ImportRepository(Repository):
    """See SpaceStore."""

    async def stored_transcripts(self, conversation_id: str) -> dict[str, StoredTranscript]:
        """See SpaceStore."""
        key = self._key(conversation_id)
        found = await self._agreed(
            lambda: self._engine.read(STATE, key=key, prefix=f"{key}:"),
            lambda found: all(row["messageCount"] in (None, len(row["messageIds"])) for row in found),
        )
        return {
            self._id(row["key"]): StoredTranscript(
                id=self._id(row["key"]), next_seq=row["nextSeq"], message_ids=tuple(row["messageIds"])
            )
            for row in found
        }

    async def import_session(self, draft: ImportDraft) -> bool:
        """See SpaceStore."""
        source_key = None if draft.source_id is None else self._key(draft.source_id)
        found = await self._write(
            SESSION,
            **self._event(),
            **self._target(draft.id),
            type=TopologyEventType.SESSION_CREATED
            if draft.source_id is None
            else TopologyEventType.SESSION_FORKED,
            data=rows.to_json(_event_data(draft)),
            parentKey=source_key,
            parentId=draft.source_id,
            sourceKey=source_key,
            sourceId=draft.source_id,
            throughSeq=draft.through_seq,
            label=draft.label,
            labelTerms=label_terms(self._space_id, draft.label),
            status=draft.status,
            tags=list(draft.tags),
            metadata=rows.to_json({} if draft.metadata is None else draft.metadata),
            turnCount=draft.turn_count,
            messages=[rows.draft_properties(self._space_id, draft.id, one) for one in draft.messages],
            createdAt=draft.created_at,
            updatedAt=draft.updated_at,
            lastActiveAt=draft.updated_at,
        )
        if not found:
            raise NotFound.of("space", self._space_id)
        outcome: str = found[0]["outcome"]
        match outcome:
            case "NO_PARENT":
                raise NotFound.of("session", draft.source_id or "")
            case "NO_CUT":
                raise Conflict("the messages to share are not there")
        return outcome != "TAKEN"


def _event_data(draft: ImportDraft) -> Row:
    """What an event tells of a session that is made otherwise, and that it was imported."""
    told = {"parentId": draft.source_id, "label": draft.label, "imported": True}
    if draft.source_id is None:
        return told
    return told | {"sourceSessionId": draft.source_id, "sourceSeq": draft.through_seq}
