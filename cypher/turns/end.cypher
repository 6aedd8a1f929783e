// purpose: Ends a turn with its last messages, or closes one whose lease ran out: status, usage, counters, insight, lease, events.
//   RACE: the index does not show the turn that the locked session names.
// access: write
// params: space, key, id, turnKey, op, fence, closing, lastSeq, status, stopReason, error, toolRounds, messages, usage, callUsage, completed, consumedKey, eventKey, data
// returns: outcome, turn, messages, due
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
OPTIONAL MATCH (t:Turn {key: $turnKey})
SET t.lock = $op
WITH s, t, datetime.realtime() AS clock
WITH s, t, clock.epochSeconds * 1000000 + clock.microsecond AS now
WITH s, t, now, s.nextSeq AS firstSeq, CASE
  WHEN t.lock IS NULL AND $turnKey = $space + '/' + s.openTurnId THEN 'RACE'
  WHEN t.lock IS NULL THEN 'LOST'
  WHEN t.endedBy = $op THEN 'DONE_BEFORE'
  WHEN t.endedBy IS NOT NULL THEN 'ENDED'
  WHEN t.fence <> $fence THEN 'LOST'
  WHEN $closing AND (t.leaseUntil IS NULL OR t.leaseUntil > now OR t.lastSeq <> $lastSeq) THEN 'ALIVE'
  ELSE 'DONE' END AS outcome
CALL (s, t, now, firstSeq, outcome) {
  WITH s, t, now, firstSeq, outcome WHERE outcome = 'DONE'
  FOREACH (offset IN range(0, size($messages) - 1) |
    CREATE (m:Message)
    SET m = $messages[offset], m.createdAt = coalesce($messages[offset].createdAt, now)
    CREATE (s)-[:HAS_MESSAGE {sk: $key, seq: firstSeq + offset}]->(m))
  SET s.nextSeq = firstSeq + size($messages), s.messageCount = s.messageCount + size($messages),
    s.turnCount = s.turnCount + CASE WHEN $completed THEN 1 ELSE 0 END, s.lastActiveAt = now, s.openTurnId = null,
    s.inputTokens = s.inputTokens + $callUsage.inputTokens, s.outputTokens = s.outputTokens + $callUsage.outputTokens,
    s.cacheReadTokens = s.cacheReadTokens + $callUsage.cacheReadTokens,
    s.cacheWriteTokens = s.cacheWriteTokens + $callUsage.cacheWriteTokens, s.llmCalls = s.llmCalls + $callUsage.llmCalls
  SET t.status = $status, t.stopReason = $stopReason, t.error = $error, t.toolRounds = $toolRounds, t.usage = $usage,
    t.lastSeq = s.nextSeq - 1, t.endedAt = now, t.endedBy = $op, t.leaseUntil = null, t.partial = ''
  REMOVE t:OpenTurn
  WITH s, t, now, $completed AND s.insight IS NOT NULL AND s.insightRevision = t.insightRevision AS consumed
  FOREACH (_ IN CASE WHEN consumed THEN [1] ELSE [] END |
    SET s.insight = null, s.insightSource = null, s.insightAt = null)
  WITH s, now, consumed
  MATCH (n:TopologyNode {key: $key})
  SET n.turnCount = s.turnCount, n.lastActiveAt = now
  WITH s, now, consumed
  MATCH (sp:Space {id: $space})
  CALL (s, sp, now) {
    WITH s, sp, now WHERE $completed AND s.turnCount % sp.everyNTurns = 0
    OPTIONAL MATCH (main:Session {key: sp.id + '/' + s.rootId})
    UNWIND CASE WHEN 'EVERY_N_TURNS' IN sp.consolidateOn THEN [{kind: 'CONSOLIDATE', id: s.id}] ELSE [] END
      + CASE WHEN 'EVERY_N_TURNS' IN sp.integrateOn AND main.role = 'MAIN' THEN [{kind: 'INTEGRATE', id: main.id}] ELSE [] END AS one
    MERGE (task:Task {key: sp.id + '/' + one.kind + ':' + one.id})
    SET task.lock = $op
    WITH sp, now, one, task
    SET task += {spaceId: sp.id, kind: one.kind, sessionId: one.id, requested: $op, failures: coalesce(task.failures, 0),
      dueAt: coalesce(task.dueAt, now)}
    RETURN count(task) AS due
  }
  SET sp.lock = $op
  WITH s, sp, now, consumed, due
  SET sp.settledSeq = sp.eventSeq
  FOREACH (_ IN CASE WHEN consumed THEN [1] ELSE [] END |
    CREATE (:TopologyEvent {key: $consumedKey, spaceId: $space, seq: sp.eventSeq + 1, type: 'INSIGHT_CONSUMED', nodeId: $id,
      rootId: s.rootId, data: $data, at: now})
    SET sp.eventSeq = sp.eventSeq + 1, s.eventSeq = sp.eventSeq)
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq + 1, type: 'TURN_ENDED', nodeId: $id,
    rootId: s.rootId, data: $data, messageCount: s.messageCount, at: now})
  SET sp.eventSeq = sp.eventSeq + 1,
    sp.inputTokens = sp.inputTokens + $callUsage.inputTokens, sp.outputTokens = sp.outputTokens + $callUsage.outputTokens,
    sp.cacheReadTokens = sp.cacheReadTokens + $callUsage.cacheReadTokens,
    sp.cacheWriteTokens = sp.cacheWriteTokens + $callUsage.cacheWriteTokens, sp.llmCalls = sp.llmCalls + $callUsage.llmCalls
  RETURN collect(due) AS dues
}
RETURN collect({outcome: outcome, due: head(dues), turn: t {.*}, firstSeq: t.lastSeq + 1 - size($messages), now: t.endedAt}) AS rows
