"""Copies of sessions, turns and messages to the properties that are stored, and back."""

from stello_graph.ids import key_of
from stello_graph.model.copies import Place, SessionCopy
from stello_graph.model.turn import Turn
from stello_graph.store import rows
from stello_graph.store.engine import Row
from stello_graph.store.indexing import label_terms, memory_terms

__all__ = ["place_row", "session_copy", "session_row", "turn_row"]


def session_copy(row: Row) -> SessionCopy:
    """A Session's row with what its node says."""
    more = ("parentId", "index", "sourceSessionId", "sourceSeq", "splitTurn", "refs")
    counts = ("insightRevision", "lastTurnNumber")
    given = {name: row.get(name) for name in (*more, *counts)}
    return SessionCopy.model_validate(dict(rows.session(row)) | given)


def session_row(space_id: str, copy: SessionCopy) -> Row:
    """The properties of a session, but for what depends on its parent and on the Space's events."""
    insight, compression = copy.insight, copy.compression
    return {
        "key": key_of(space_id, copy.id),
        "spaceId": space_id,
        "id": copy.id,
        "label": copy.label,
        "labelTerms": label_terms(space_id, copy.label),
        "role": copy.role,
        "status": copy.status,
        "strategy": copy.strategy,
        "systemPrompt": copy.system_prompt,
        "skills": None if copy.skills is None else rows.to_json(copy.skills),
        "tags": list(copy.tags),
        "metadata": rows.to_json({} if copy.metadata is None else copy.metadata),
        "memory": copy.memory,
        "memoryTerms": None if copy.memory is None else memory_terms(space_id, copy.memory),
        "memoryRevision": copy.memory_revision,
        "memoryThroughSeq": copy.memory_through_seq or None,
        "insight": None if insight is None else insight.content,
        "insightSource": None if insight is None else insight.source_session_id,
        "insightAt": None if insight is None else insight.put_at,
        "insightRevision": copy.insight_revision,
        "synthesis": copy.synthesis,
        "synthesisRevision": copy.synthesis_revision,
        "rollup": copy.rollup,
        "compressionSummary": None if compression is None else compression.summary,
        "compressionThroughSeq": None if compression is None else compression.through_seq,
        "compressionTokens": None if compression is None else compression.tokens,
        "compressionAt": None if compression is None else compression.created_at,
        "overrideModel": copy.overrides.model,
        "overrideConsolidatePrompt": copy.overrides.consolidate_prompt,
        "overrideIntegratePrompt": copy.overrides.integrate_prompt,
        "overrideCompressPrompt": copy.overrides.compress_prompt,
        "overrideRoleContext": copy.overrides.role_context,
        "turnCount": copy.turn_count,
        "messageCount": copy.message_count,
        "nextSeq": copy.next_seq,
        "lastTurnNumber": copy.last_turn_number,
        "splitTurn": copy.split_turn,
        **copy.usage.model_dump(by_alias=True),
        "createdAt": copy.created_at,
        "updatedAt": copy.updated_at,
        "lastActiveAt": copy.last_active_at,
    }


def turn_row(space_id: str, turn: Turn) -> Row:
    """The properties of a turn that is over."""
    return {
        "key": key_of(space_id, turn.id),
        "spaceId": space_id,
        "id": turn.id,
        "sk": key_of(space_id, turn.session_id),
        "sessionId": turn.session_id,
        "number": turn.number,
        "status": turn.status,
        "stopReason": turn.stop_reason,
        "toolRounds": turn.tool_rounds,
        "maxToolRounds": turn.max_tool_rounds,
        "confirmIds": list(turn.confirm_ids),
        "approvedIds": list(turn.approved_ids),
        "refusedIds": list(turn.refused_ids),
        "refusals": list(turn.refusals),
        "usage": rows.to_json(turn.usage),
        "error": None if turn.error is None else rows.to_json(turn.error),
        "firstSeq": turn.first_seq,
        "lastSeq": turn.last_seq,
        "fence": turn.fence,
        "cancelRequested": turn.cancel_requested,
        "partial": "",
        "partialRound": turn.tool_rounds,
        "insight": turn.insight,
        "startedAt": turn.started_at,
        "endedAt": turn.ended_at,
    }


def place_row(space_id: str, place: Place) -> Row:
    """A place in a transcript, with the properties of its message where that is not stored yet."""
    message = place.message
    return {
        "key": key_of(space_id, place.message_id),
        "seq": place.seq,
        "message": None if message is None else rows.draft_properties(space_id, message.session_id, message),
    }
