// purpose: Stores what consolidating gave, unless the digest was changed meanwhile; the usage counts for session and Space.
// access: write
// params: space, key, id, op, eventKey, data, content, terms, revision, throughSeq, evenArchived, usage
// returns: outcome, due, session.*
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
WITH s, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN s.status = 'ARCHIVED' AND NOT $evenArchived THEN 'ARCHIVED'
  WHEN s.memoryRevision <> $revision THEN 'CHANGED'
  ELSE 'DONE' END AS outcome
CALL (s, outcome) {
  WITH s, outcome WHERE outcome = 'DONE'
  MATCH (sp:Space {id: $space})
  WITH s, sp, datetime.realtime() AS clock
  WITH s, sp, clock.epochSeconds * 1000000 + clock.microsecond AS now
  CALL (s, sp, now) {
    WITH s, sp, now WHERE s.rootId <> $id
    OPTIONAL MATCH (main:Session {key: sp.id + '/' + s.rootId})
    UNWIND CASE WHEN 'AFTER_CONSOLIDATE' IN sp.consolidateOn THEN [{kind: 'CONSOLIDATE', id: s.id}] ELSE [] END
      + CASE WHEN 'AFTER_CONSOLIDATE' IN sp.integrateOn AND main.role = 'MAIN' THEN [{kind: 'INTEGRATE', id: main.id}] ELSE [] END AS one
    MERGE (task:Task {key: sp.id + '/' + one.kind + ':' + one.id})
    SET task.lock = $op
    WITH sp, now, one, task
    SET task += {spaceId: sp.id, kind: one.kind, sessionId: one.id, requested: $op, failures: coalesce(task.failures, 0),
      dueAt: coalesce(task.dueAt, now)}
    RETURN count(task) AS due
  }
  SET sp.lock = $op
  WITH s, sp, due, datetime.realtime() AS clock
  WITH s, sp, due, clock.epochSeconds * 1000000 + clock.microsecond AS now
  SET s.memorySeq = CASE WHEN s.memory = $content THEN s.memorySeq ELSE sp.eventSeq + 1 END, s.memory = $content, s.memoryTerms = $terms, s.memoryRevision = s.memoryRevision + 1, s.memoryThroughSeq = $throughSeq,
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
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq, type: 'MEMORY_UPDATED', nodeId: $id,
    rootId: s.rootId, data: $data, at: now})
  RETURN collect(due) AS dues
}
RETURN collect(s {.*, outcome: outcome, due: head(dues)}) AS rows
