// purpose: Creates a fork: session, node, edges to the inherited messages and messages of its own. The source is locked, then the parent, the Space last.
//   Where minTurns and cooldownTurns are given, the source's completed turns decide whether it may be forked.
//   RACE: the index does not show all messages that the locked source counts; nothing is written.
// access: write
// params: space, key, id, op, eventKey, data, labelTerms, sourceKey, sourceId, parentKey, parentId, throughSeq, inherits, label, systemPrompt, skills, tags, metadata, overrides, messages, minTurns, cooldownTurns, usage, idempotencyKey, inputHash
// returns: outcome, sourceTurns, sourceSplit, session.*
MATCH (src:Session {key: $sourceKey})
SET src.lock = $op
WITH src WHERE src.lock IS NOT NULL
OPTIONAL MATCH (p:TopologyNode {key: $parentKey})
SET p.lock = $op
WITH src, p
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
OPTIONAL MATCH (i:Idempotency {key: $idempotencyKey})
OPTIONAL MATCH (taken:Session {key: $key})
WITH src, p, i, src.nextSeq - src.messageCount AS oldest, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN i IS NOT NULL AND i.op = 'fork' AND i.inputHash = $inputHash THEN 'JOINED'
  WHEN i IS NOT NULL THEN 'REUSED_KEY'
  WHEN taken IS NOT NULL THEN 'TAKEN'
  WHEN src.status = 'ARCHIVED' THEN 'ARCHIVED'
  WHEN src.turnCount < $minTurns OR src.turnCount - src.splitTurn < $cooldownTurns THEN 'TOO_EARLY'
  WHEN p.lock IS NULL THEN 'NO_PARENT'
  WHEN p.status = 'ARCHIVED' THEN 'ARCHIVED_PARENT'
  WHEN $throughSeq < src.nextSeq - src.messageCount OR $throughSeq >= src.nextSeq THEN 'NO_CUT'
  ELSE 'DONE' END AS outcome
CALL (outcome, oldest) {
  WITH outcome, oldest WHERE outcome = 'DONE' AND $inherits
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = $sourceKey AND r.seq >= oldest AND r.seq <= $throughSeq
  WITH r, m ORDER BY r.sk, r.seq
  RETURN collect(m) AS shared
}
WITH src, p, i, oldest, shared, CASE
  WHEN outcome = 'DONE' AND $inherits AND size(shared) <> $throughSeq + 1 - oldest THEN 'RACE'
  ELSE outcome END AS outcome
CALL (src, p, oldest, shared, outcome) {
  WITH src, p, oldest, shared, outcome WHERE outcome = 'DONE'
  WITH src, p, oldest, shared, datetime.realtime() AS clock
  WITH src, p, oldest, shared, clock.epochSeconds * 1000000 + clock.microsecond AS now, p.strategy AS strategy, 'STANDARD' AS role,
    CASE WHEN $inherits THEN coalesce($throughSeq, 0) ELSE 0 END + 1 AS ownSeq, size(shared) + size($messages) AS messageCount
  CREATE (s:Session {key: $key, spaceId: $space, id: $id, rootId: coalesce(p.rootId, $id), label: $label, labelTerms: $labelTerms, role: role, status: 'ACTIVE',
    strategy: strategy, systemPrompt: $systemPrompt, skills: $skills, tags: $tags, metadata: $metadata,
    memoryRevision: 0, insightRevision: 0, turnCount: 0, messageCount: messageCount, nextSeq: ownSeq + size($messages), lastTurnNumber: 0,
    inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, llmCalls: 0,
    createdAt: now, updatedAt: now, lastActiveAt: now})
  SET s += $overrides
  CREATE (n:TopologyNode {key: $key, spaceId: $space, id: $id, parentId: $parentId, parentKey: $parentKey,
    rootId: p.rootId, label: $label, status: 'ACTIVE', role: role, strategy: strategy, depth: p.depth + 1,
    index: p.nextIndex, nextIndex: 0, childCount: 0, turnCount: 0, sourceSessionId: $sourceId, sourceSeq: $throughSeq,
    createdAt: now, lastActiveAt: now})
  CREATE (n)-[:PARENT]->(p)
  SET p.nextIndex = p.nextIndex + 1, p.childCount = p.childCount + 1, src.splitTurn = src.turnCount
  WITH src, s, oldest, shared, now, ownSeq
  CALL (s, oldest, shared) {
    UNWIND range(0, size(shared) - 1) AS offset
    WITH s, oldest, offset, shared[offset] AS m
    CREATE (s)-[:HAS_MESSAGE {sk: $key, seq: oldest + offset}]->(m)
  }
  FOREACH (offset IN range(0, size($messages) - 1) |
    CREATE (m:Message)
    SET m = $messages[offset], m.createdAt = now
    CREATE (s)-[:HAS_MESSAGE {sk: $key, seq: ownSeq + offset}]->(m))
  FOREACH (_ IN CASE WHEN $idempotencyKey IS NULL THEN [] ELSE [1] END |
    CREATE (:Idempotency {key: $idempotencyKey, sk: $key, op: 'fork', inputHash: $inputHash, resultId: $id}))
  WITH src, s, now
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  WITH src, s, sp, now
  FOREACH (counted IN CASE WHEN $usage.llmCalls = 0 THEN [] ELSE [src, sp] END |
    SET counted.inputTokens = counted.inputTokens + $usage.inputTokens,
      counted.outputTokens = counted.outputTokens + $usage.outputTokens,
      counted.cacheReadTokens = counted.cacheReadTokens + $usage.cacheReadTokens,
      counted.cacheWriteTokens = counted.cacheWriteTokens + $usage.cacheWriteTokens,
      counted.llmCalls = counted.llmCalls + $usage.llmCalls)
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq + 1, type: 'SESSION_FORKED', nodeId: $id,
    rootId: s.rootId, data: $data, at: now})
  SET sp.settledSeq = sp.eventSeq, sp.eventSeq = sp.eventSeq + 1, sp.sessionCount = sp.sessionCount + 1, s.eventSeq = sp.eventSeq
}
WITH src, outcome, CASE outcome WHEN 'JOINED' THEN $space + '/' + i.resultId ELSE $key END AS key
OPTIONAL MATCH (s:Session {key: key})
RETURN collect(CASE
  WHEN s IS NULL THEN {outcome: outcome, sourceTurns: src.turnCount, sourceSplit: src.splitTurn}
  ELSE s {.*, outcome: outcome, sourceTurns: src.turnCount, sourceSplit: src.splitTurn} END) AS rows
