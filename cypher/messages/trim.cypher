// purpose: Keeps the newest messages of a session, whole tool groups only. The delete-lock comes first.
//   RACE: the index does not show all messages that the locked session counts; nothing is written.
// access: write
// params: space, key, id, op, eventKey, data, keepLast
// returns: outcome, turnId, session.*
MATCH (d:DeleteLock {key: $space})
SET d.lock = $op
WITH d
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
CALL (s) {
  OPTIONAL MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = $key AND r.seq <= s.nextSeq - $keepLast AND m.role <> 'TOOL'
  WITH s, r ORDER BY r.sk DESC, r.seq DESC LIMIT 1
  RETURN CASE WHEN $keepLast = 0 THEN s.nextSeq ELSE coalesce(r.seq, 0) END AS start
}
WITH s, start, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN s.status = 'ARCHIVED' THEN 'ARCHIVED'
  WHEN s.openTurnId IS NOT NULL THEN 'BUSY'
  WHEN start <= s.nextSeq - s.messageCount THEN 'SAME'
  ELSE 'DONE' END AS outcome
CALL (start, outcome) {
  WITH start, outcome WHERE outcome = 'DONE'
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = $key AND r.seq < start
  RETURN collect(m) AS messages, collect(r) AS edges
}
WITH s, start, messages, edges, CASE
  WHEN outcome = 'DONE' AND size(edges) <> start - s.nextSeq + s.messageCount THEN 'RACE'
  ELSE outcome END AS outcome
CALL (s, start, messages, edges, outcome) {
  WITH s, start, messages, edges, outcome WHERE outcome = 'DONE'
  FOREACH (r IN edges | DELETE r)
  WITH s, start, messages
  CALL (messages) {
    UNWIND messages AS m
    WITH m WHERE NOT EXISTS { ()-[:HAS_MESSAGE]->(m) }
    DELETE m
  }
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  WITH s, sp, start, datetime.realtime() AS clock
  WITH s, sp, start, clock.epochSeconds * 1000000 + clock.microsecond AS now
  SET s.messageCount = s.nextSeq - start, s.updatedAt = now,
    s.compressionSummary = null, s.compressionThroughSeq = null, s.compressionTokens = null, s.compressionAt = null
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq + 1, type: 'SESSION_UPDATED', nodeId: $id,
    rootId: s.rootId, data: $data, messageCount: s.messageCount, at: now})
  SET sp.settledSeq = sp.eventSeq, sp.eventSeq = sp.eventSeq + 1, s.eventSeq = sp.eventSeq
}
RETURN collect(s {.*, outcome: outcome, turnId: s.openTurnId}) AS rows
