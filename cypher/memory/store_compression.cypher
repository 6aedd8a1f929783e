// purpose: Stores a summary of the transcript up to a place, unless another stands by now or what it covers was trimmed;
//   the usage counts for session and Space. Where a turn stores it, only while that turn holds the session.
// access: write
// params: space, key, id, op, eventKey, data, turnKey, fence, extends, firstSeq, throughSeq, summary, tokens, usage
// returns: outcome, turnId, session.*
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
OPTIONAL MATCH (t:Turn {key: $turnKey})
SET t.lock = $op
WITH s, t
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
WITH s, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN $turnKey IS NOT NULL AND (t.lock IS NULL OR t.status <> 'RUNNING' OR t.fence <> $fence) THEN 'LOST'
  WHEN $turnKey IS NULL AND s.status = 'ARCHIVED' THEN 'ARCHIVED'
  WHEN $turnKey IS NULL AND s.openTurnId IS NOT NULL THEN 'BUSY'
  WHEN coalesce(s.compressionThroughSeq, 0) <> $extends OR $firstSeq < s.nextSeq - s.messageCount
    OR $throughSeq >= s.nextSeq THEN 'CHANGED'
  ELSE 'DONE' END AS outcome
CALL (s, outcome) {
  WITH s, outcome WHERE outcome = 'DONE'
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  WITH s, sp, datetime.realtime() AS clock
  WITH s, sp, clock.epochSeconds * 1000000 + clock.microsecond AS now
  SET s.compressionSummary = $summary, s.compressionThroughSeq = $throughSeq, s.compressionTokens = $tokens,
    s.compressionAt = now,
    s.inputTokens = s.inputTokens + $usage.inputTokens,
    s.outputTokens = s.outputTokens + $usage.outputTokens,
    s.cacheReadTokens = s.cacheReadTokens + $usage.cacheReadTokens,
    s.cacheWriteTokens = s.cacheWriteTokens + $usage.cacheWriteTokens,
    s.llmCalls = s.llmCalls + $usage.llmCalls,
    sp.inputTokens = sp.inputTokens + $usage.inputTokens,
    sp.outputTokens = sp.outputTokens + $usage.outputTokens,
    sp.cacheReadTokens = sp.cacheReadTokens + $usage.cacheReadTokens,
    sp.cacheWriteTokens = sp.cacheWriteTokens + $usage.cacheWriteTokens,
    sp.llmCalls = sp.llmCalls + $usage.llmCalls,
    s.updatedAt = now, s.eventSeq = sp.eventSeq + 1, sp.settledSeq = sp.eventSeq, sp.eventSeq = sp.eventSeq + 1
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq, type: 'SESSION_UPDATED', nodeId: $id,
    rootId: s.rootId, data: $data, at: now})
}
RETURN collect(s {.*, outcome: outcome, turnId: s.openTurnId}) AS rows
