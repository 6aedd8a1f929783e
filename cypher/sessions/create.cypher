// purpose: Creates a session and its node: a root, or an empty child. The parent is locked first, the Space last.
// access: write
// params: space, key, id, op, eventKey, data, labelTerms, parentKey, parentId, label, role, strategy, systemPrompt, skills, tags, metadata, overrides, idempotencyKey, inputHash
// returns: outcome, session.*
MATCH (sp:Space {id: $space})
OPTIONAL MATCH (p:TopologyNode {key: $parentKey})
SET p.lock = $op
WITH sp, p
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
OPTIONAL MATCH (i:Idempotency {key: $idempotencyKey})
OPTIONAL MATCH (taken:Session {key: $key})
WITH sp, p, i, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN i IS NOT NULL AND i.op = 'createSession' AND i.inputHash = $inputHash THEN 'JOINED'
  WHEN i IS NOT NULL THEN 'REUSED_KEY'
  WHEN taken IS NOT NULL THEN 'TAKEN'
  WHEN $parentKey IS NOT NULL AND p.lock IS NULL THEN 'NO_PARENT'
  WHEN p.status = 'ARCHIVED' THEN 'ARCHIVED_PARENT'
  ELSE 'DONE' END AS outcome
CALL (sp, p, outcome) {
  WITH sp, p, outcome WHERE outcome = 'DONE'
  SET sp.lock = $op
  WITH p, sp, datetime.realtime() AS clock
  WITH p, sp, clock.epochSeconds * 1000000 + clock.microsecond AS now, coalesce(p.nextIndex, sp.nextRootIndex) AS index,
    coalesce(p.strategy, $strategy, sp.strategy, CASE $role WHEN 'MAIN' THEN 'FLAT' ELSE 'TREE' END) AS strategy,
    0 AS messageCount, 1 AS nextSeq
  CREATE (s:Session {key: $key, spaceId: $space, id: $id, rootId: coalesce(p.rootId, $id), label: $label, labelTerms: $labelTerms, role: $role, status: 'ACTIVE',
    strategy: strategy, systemPrompt: $systemPrompt, skills: $skills, tags: $tags, metadata: $metadata,
    memoryRevision: 0, insightRevision: 0, turnCount: 0, messageCount: messageCount, nextSeq: nextSeq, lastTurnNumber: 0,
    inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, llmCalls: 0,
    createdAt: now, updatedAt: now, lastActiveAt: now, eventSeq: sp.eventSeq + 1})
  SET s += $overrides
  CREATE (n:TopologyNode {key: $key, spaceId: $space, id: $id, parentId: $parentId, parentKey: coalesce($parentKey, $space),
    rootId: coalesce(p.rootId, $id), label: $label, status: 'ACTIVE', role: $role, strategy: strategy,
    depth: coalesce(p.depth + 1, 0), index: index, nextIndex: 0, childCount: 0, turnCount: 0,
    createdAt: now, lastActiveAt: now})
  FOREACH (_ IN CASE WHEN p IS NULL THEN [1] ELSE [] END |
    CREATE (n)-[:ROOT_OF]->(sp)
    SET sp.nextRootIndex = index + 1)
  FOREACH (_ IN CASE WHEN p IS NULL THEN [] ELSE [1] END |
    CREATE (n)-[:PARENT]->(p)
    SET p.nextIndex = index + 1, p.childCount = p.childCount + 1)
  FOREACH (_ IN CASE WHEN $idempotencyKey IS NULL THEN [] ELSE [1] END |
    CREATE (:Idempotency {key: $idempotencyKey, sk: $key, op: 'createSession', inputHash: $inputHash, resultId: $id}))
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq + 1, type: 'SESSION_CREATED', nodeId: $id,
    rootId: coalesce(p.rootId, $id), data: $data, at: now})
  SET sp.settledSeq = sp.eventSeq, sp.eventSeq = sp.eventSeq + 1, sp.sessionCount = sp.sessionCount + 1
}
WITH outcome, CASE outcome WHEN 'JOINED' THEN $space + '/' + i.resultId ELSE $key END AS key
OPTIONAL MATCH (s:Session {key: key})
RETURN collect(CASE WHEN s IS NULL THEN {outcome: outcome} ELSE s {.*, outcome: outcome} END) AS rows
