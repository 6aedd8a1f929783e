// purpose: Creates an imported session with its messages and what it remembers; a fork may share its source's messages up to a place.
//   RACE: the index does not show all messages that the locked source counts; nothing is written.
// access: write
// params: space, key, id, op, eventKey, data, labelTerms, type, parentKey, parentId, sourceKey, sourceId, throughSeq, label, role, status, systemPrompt, skills, tags, metadata, memory, memoryTerms, insight, synthesis, turnCount, messages, createdAt, updatedAt, lastActiveAt
// returns: outcome
MATCH (sp:Space {id: $space})
OPTIONAL MATCH (src:Session {key: $sourceKey})
SET src.lock = $op
WITH sp, src
OPTIONAL MATCH (p:TopologyNode {key: $parentKey})
SET p.lock = $op
WITH sp, src, p
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
OPTIONAL MATCH (taken:Session {key: $key})
WITH sp, src, p, src.nextSeq - src.messageCount AS oldest, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN taken IS NOT NULL THEN 'TAKEN'
  WHEN $parentKey IS NOT NULL AND p.lock IS NULL THEN 'NO_PARENT'
  WHEN $sourceKey IS NOT NULL AND src.lock IS NULL THEN 'NO_PARENT'
  WHEN $throughSeq IS NOT NULL AND src IS NULL THEN 'NO_CUT'
  WHEN $throughSeq < src.nextSeq - src.messageCount OR $throughSeq >= src.nextSeq THEN 'NO_CUT'
  ELSE 'DONE' END AS outcome
CALL (outcome, oldest) {
  WITH outcome, oldest WHERE outcome = 'DONE' AND $throughSeq IS NOT NULL
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = $sourceKey AND r.seq >= oldest AND r.seq <= $throughSeq
  WITH r, m ORDER BY r.sk, r.seq
  RETURN collect(m) AS shared
}
WITH sp, p, oldest, shared, CASE
  WHEN outcome = 'DONE' AND size(shared) <> $throughSeq + 1 - oldest THEN 'RACE'
  ELSE outcome END AS outcome
CALL (sp, p, oldest, shared, outcome) {
  WITH sp, p, oldest, shared, outcome WHERE outcome = 'DONE'
  FOREACH (_ IN CASE WHEN p IS NULL THEN [] ELSE [1] END | SET p.nextIndex = p.nextIndex + 1, p.childCount = p.childCount + 1)
  WITH sp, p, oldest, shared, datetime.realtime() AS clock
  WITH sp, p, oldest, shared, clock.epochSeconds * 1000000 + clock.microsecond AS now, coalesce($throughSeq, 0) + 1 AS firstSeq
  CREATE (s:Session {key: $key, spaceId: $space, id: $id, rootId: coalesce(p.rootId, $id), label: $label, labelTerms: $labelTerms, role: $role,
    status: $status, strategy: coalesce(p.strategy, CASE $role WHEN 'MAIN' THEN 'FLAT' ELSE 'TREE' END),
    systemPrompt: $systemPrompt, skills: $skills, tags: $tags, metadata: $metadata,
    memory: $memory, memoryTerms: $memoryTerms, memoryRevision: CASE WHEN $memory IS NULL THEN 0 ELSE 1 END,
    insight: $insight, insightAt: CASE WHEN $insight IS NULL THEN null ELSE coalesce($updatedAt, now) END,
    insightRevision: CASE WHEN $insight IS NULL THEN 0 ELSE 1 END,
    synthesis: $synthesis, synthesisRevision: CASE WHEN $synthesis IS NULL THEN 0 ELSE 1 END, turnCount: $turnCount, messageCount: size(shared) + size($messages), nextSeq: firstSeq + size($messages),
    lastTurnNumber: 0,
    inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, llmCalls: 0,
    createdAt: coalesce($createdAt, now), updatedAt: coalesce($updatedAt, now), lastActiveAt: coalesce($lastActiveAt, now)})
  WITH sp, s, p, oldest, shared, now, firstSeq
  CALL (s, oldest, shared) {
    UNWIND range(0, size(shared) - 1) AS offset
    WITH s, oldest, offset, shared[offset] AS m
    CREATE (s)-[:HAS_MESSAGE {sk: $key, seq: oldest + offset}]->(m)
  }
  FOREACH (offset IN range(0, size($messages) - 1) |
    MERGE (m:Message {key: $messages[offset].key})
    ON CREATE SET m = $messages[offset], m.createdAt = coalesce($messages[offset].createdAt, $createdAt, now)
    CREATE (s)-[:HAS_MESSAGE {sk: $key, seq: firstSeq + offset}]->(m))
  WITH sp, s, p, now
  SET sp.lock = $op
  WITH s, p, sp, now, coalesce(p.nextIndex - 1, sp.nextRootIndex) AS index
  CREATE (n:TopologyNode {key: $key, spaceId: $space, id: $id, parentId: $parentId, parentKey: coalesce($parentKey, $space),
    rootId: s.rootId, label: $label, status: $status, role: $role, strategy: s.strategy,
    depth: coalesce(p.depth + 1, 0), index: index, nextIndex: 0, childCount: 0, turnCount: $turnCount,
    sourceSessionId: $sourceId, sourceSeq: $throughSeq, createdAt: s.createdAt, lastActiveAt: s.lastActiveAt})
  FOREACH (_ IN CASE WHEN p IS NULL THEN [1] ELSE [] END |
    CREATE (n)-[:ROOT_OF]->(sp)
    SET sp.nextRootIndex = index + 1)
  FOREACH (_ IN CASE WHEN p IS NULL THEN [] ELSE [1] END | CREATE (n)-[:PARENT]->(p))
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq + 1, type: $type, nodeId: $id,
    rootId: s.rootId, data: $data, at: now})
  SET sp.settledSeq = sp.eventSeq, sp.eventSeq = sp.eventSeq + 1, sp.sessionCount = sp.sessionCount + 1, s.eventSeq = sp.eventSeq,
    s.memorySeq = CASE WHEN s.memory IS NULL THEN null ELSE sp.eventSeq END
}
RETURN [{outcome: outcome}] AS rows
