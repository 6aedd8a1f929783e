// purpose: Stores messages at the end of a transcript that no turn holds; where a place is expected, only if the transcript ends there.
// access: write
// params: space, key, id, op, eventKey, data, messages, expectedSeq, turns, idempotencyKey, inputHash
// returns: outcome, turnId, firstSeq, lastSeq
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
OPTIONAL MATCH (i:Idempotency {key: $idempotencyKey})
WITH s, done, i, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN i IS NOT NULL AND i.op = 'appendMessages' AND i.inputHash = $inputHash THEN 'JOINED'
  WHEN i IS NOT NULL THEN 'REUSED_KEY'
  WHEN s.status = 'ARCHIVED' THEN 'ARCHIVED'
  WHEN s.openTurnId IS NOT NULL THEN 'BUSY'
  WHEN s.nextSeq <> $expectedSeq THEN 'CONTINUED'
  ELSE 'DONE' END AS outcome, s.nextSeq AS firstSeq
CALL (s, outcome, firstSeq) {
  WITH s, outcome, firstSeq WHERE outcome = 'DONE'
  WITH s, firstSeq, datetime.realtime() AS clock
  WITH s, firstSeq, clock.epochSeconds * 1000000 + clock.microsecond AS now
  FOREACH (offset IN range(0, size($messages) - 1) |
    MERGE (m:Message {key: $messages[offset].key})
    ON CREATE SET m = $messages[offset], m.createdAt = coalesce($messages[offset].createdAt, now)
    CREATE (s)-[:HAS_MESSAGE {sk: $key, seq: firstSeq + offset}]->(m))
  SET s.nextSeq = firstSeq + size($messages), s.messageCount = s.messageCount + size($messages),
    s.turnCount = s.turnCount + $turns, s.updatedAt = now, s.lastActiveAt = now
  FOREACH (_ IN CASE WHEN $idempotencyKey IS NULL THEN [] ELSE [1] END |
    CREATE (:Idempotency {key: $idempotencyKey, sk: $key, op: 'appendMessages', inputHash: $inputHash,
      resultId: toString(firstSeq) + '-' + toString(firstSeq + size($messages) - 1)}))
  WITH s, now, firstSeq
  MATCH (n:TopologyNode {key: $key})
  SET n.lastActiveAt = now, n.turnCount = s.turnCount
  WITH s, now, firstSeq
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  WITH s, sp, now, firstSeq
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq + 1, type: 'SESSION_UPDATED', nodeId: $id,
    rootId: s.rootId, data: $data, messageCount: s.messageCount, firstSeq: firstSeq, at: now})
  SET sp.settledSeq = sp.eventSeq, sp.eventSeq = sp.eventSeq + 1, s.eventSeq = sp.eventSeq
}
WITH s, outcome, CASE outcome
  WHEN 'JOINED' THEN toInteger(split(i.resultId, '-')[0])
  WHEN 'DONE_BEFORE' THEN done.firstSeq
  ELSE firstSeq END AS firstSeq
RETURN collect({outcome: outcome, turnId: s.openTurnId, firstSeq: firstSeq, lastSeq: firstSeq + size($messages) - 1}) AS rows
