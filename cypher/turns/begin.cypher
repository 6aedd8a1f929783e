// purpose: Begins a turn: takes the session's lease, stores the user message, pins the insight. Answers all that compiling needs.
//   RACE: the index does not show the turn that the locked session names.
// access: write
// params: space, key, id, turnKey, turnId, message, lease, maxToolRounds, idempotencyKey, inputHash
// returns: outcome, turn, conversation
MATCH (s:Session {key: $key})
SET s.lock = $turnId
WITH s WHERE s.lock IS NOT NULL
OPTIONAL MATCH (own:Turn {key: $turnKey})
OPTIONAL MATCH (i:Idempotency {key: $idempotencyKey})
OPTIONAL MATCH (open:Turn {key: $space + '/' + s.openTurnId})
WITH s, own, i, open, datetime.realtime() AS clock
WITH s, own, i, open, clock.epochSeconds * 1000000 + clock.microsecond AS now
WITH s, own, i, open, now, CASE
  WHEN own IS NOT NULL THEN 'BEGUN'
  WHEN i IS NOT NULL AND i.op = 'send' AND i.inputHash = $inputHash THEN 'JOINED'
  WHEN i IS NOT NULL THEN 'REUSED_KEY'
  WHEN s.status = 'ARCHIVED' THEN 'ARCHIVED'
  WHEN s.openTurnId IS NULL THEN 'BEGUN'
  WHEN open IS NULL THEN 'RACE'
  WHEN open.leaseUntil <= now THEN 'EXPIRED'
  ELSE 'BUSY' END AS outcome
CALL (s, own, now, outcome) {
  WITH s, own, now, outcome WHERE outcome = 'BEGUN' AND own IS NULL
  CREATE (t:Turn:OpenTurn {key: $turnKey, spaceId: $space, id: $turnId, sk: $key, sessionId: $id, number: s.lastTurnNumber + 1,
    status: 'RUNNING', toolRounds: 0, firstSeq: s.nextSeq, lastSeq: s.nextSeq, fence: 1, leaseUntil: now + $lease,
    cancelRequested: false, partial: '', partialRound: 0, startedAt: now, maxToolRounds: $maxToolRounds, insight: s.insight,
    confirmIds: [], approvedIds: [], refusedIds: [], refusals: [],
    insightRevision: CASE WHEN s.insight IS NULL THEN null ELSE s.insightRevision END})
  CREATE (s)-[:HAS_TURN]->(t)
  CREATE (m:Message)
  SET m = $message, m.createdAt = now
  CREATE (s)-[:HAS_MESSAGE {sk: $key, seq: s.nextSeq}]->(m)
  SET s.openTurnId = $turnId, s.lastTurnNumber = s.lastTurnNumber + 1, s.nextSeq = s.nextSeq + 1,
    s.messageCount = s.messageCount + 1
  FOREACH (_ IN CASE WHEN $idempotencyKey IS NULL THEN [] ELSE [1] END |
    CREATE (:Idempotency {key: $idempotencyKey, sk: $key, op: 'send', inputHash: $inputHash, resultId: $turnId}))
}
CALL (s, i, open, outcome) {
  OPTIONAL MATCH (t:Turn {key: CASE outcome
    WHEN 'BEGUN' THEN $turnKey
    WHEN 'JOINED' THEN $space + '/' + i.resultId
    ELSE open.key END})
  RETURN t
}
CALL (s, t, outcome) {
  WITH s, t, outcome WHERE outcome = 'BEGUN'
  MATCH (sp:Space {id: $space})
  CALL (s, t) {
    MATCH ()-[r:HAS_MESSAGE]->(m:Message)
    USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
    WHERE r.sk = $key AND r.seq > coalesce(s.compressionThroughSeq, 0) AND r.seq <= t.firstSeq
    WITH r, m ORDER BY r.sk, r.seq
    RETURN collect([m.id, m.sessionId, m.role, m.content, m.parts, m.state, m.toolCalls, m.toolCallId,
      m.toolName, m.isError, m.durationMs, m.model, m.usage, m.turnId, m.createdAt, r.seq]) AS transcript
  }
  CALL (sp) {
    WITH sp WHERE sp.sharedMemory
    MATCH (n:SharedMemory)
    USING INDEX SEEK n:SharedMemory(spaceId, place)
    WHERE n.spaceId = $space AND n.place >= 0
    WITH n ORDER BY n.spaceId, n.place
    RETURN collect(n {.id, .summary, .updatedAt}) AS sharedMemories
  }
  CALL () {
    MATCH (n:Skill)
    USING INDEX SEEK n:Skill(spaceId, place)
    WHERE n.spaceId = $space AND n.place >= 0
    WITH n ORDER BY n.spaceId, n.place
    RETURN collect(n {.id, .description}) AS storedSkills
  }
  RETURN collect(s {.*, space: sp {.*}, transcript: transcript, sharedMemories: sharedMemories,
    storedSkills: storedSkills}) AS conversations
}
RETURN collect({outcome: CASE WHEN outcome = 'JOINED' AND t IS NULL THEN 'RACE' ELSE outcome END, turn: t {.*},
  conversation: head(conversations)}) AS rows
