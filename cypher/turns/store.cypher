// purpose: Stores messages of a running turn in the middle of it, with its usage so far, and renews its lease.
//   RACE: the index does not show the turn that the locked session names.
// access: write
// params: key, turnKey, op, fence, lease, messages, usage, toolRounds, pendingToolCalls, confirmIds
// returns: outcome, turn, firstSeq, now
MATCH (s:Session {key: $key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
OPTIONAL MATCH (t:Turn {key: $turnKey})
SET t.lock = $op
WITH s, t
OPTIONAL MATCH (done:Message {key: $messages[0].key})
WITH s, t, done, datetime.realtime() AS clock
WITH s, t, done, clock.epochSeconds * 1000000 + clock.microsecond AS now
WITH s, t, now, CASE
  WHEN t.lock IS NULL AND $turnKey = s.spaceId + '/' + s.openTurnId THEN 'RACE'
  WHEN t.lock IS NULL THEN 'LOST'
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN t.status <> 'RUNNING' OR t.fence <> $fence THEN 'LOST'
  ELSE 'DONE' END AS outcome, coalesce(done.createdAt, now) AS at
CALL (s, t, now, outcome) {
  WITH s, t, now, outcome WHERE outcome = 'DONE'
  FOREACH (offset IN range(0, size($messages) - 1) |
    CREATE (m:Message)
    SET m = $messages[offset], m.createdAt = now
    CREATE (s)-[:HAS_MESSAGE {sk: $key, seq: s.nextSeq + offset}]->(m))
  SET s.nextSeq = s.nextSeq + size($messages), s.messageCount = s.messageCount + size($messages), s.lastActiveAt = now,
    t.lastSeq = s.nextSeq - 1, t.usage = $usage, t.toolRounds = $toolRounds, t.leaseUntil = now + $lease, t.partial = '',
    t.partialRound = $toolRounds, t.pendingToolCalls = $pendingToolCalls, t.heldResults = null,
    t.confirmIds = coalesce(t.confirmIds, []) + $confirmIds
  WITH s, now
  MATCH (n:TopologyNode {key: $key})
  SET n.lastActiveAt = now
}
RETURN collect({outcome: outcome, turn: t {.*}, firstSeq: t.lastSeq + 1 - size($messages), now: at}) AS rows
