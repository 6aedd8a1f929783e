// purpose: Stores how a subtree looks from above, unless it was made of something newer before; the usage counts for session and Space.
// access: write
// params: space, key, id, op, eventKey, data, rollup, throughSeq, usage
// returns: outcome
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
WITH s, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN s.status = 'ARCHIVED' THEN 'ARCHIVED'
  WHEN s.rollupSeq >= $throughSeq THEN 'NEWER'
  ELSE 'DONE' END AS outcome
CALL (s, outcome) {
  WITH s, outcome WHERE outcome = 'DONE'
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  WITH s, sp, datetime.realtime() AS clock
  WITH s, sp, clock.epochSeconds * 1000000 + clock.microsecond AS now
  SET s.rollup = $rollup, s.rollupSeq = $throughSeq,
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
RETURN collect({outcome: outcome}) AS rows
