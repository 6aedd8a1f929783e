// purpose: What a fork needs to know: its source, the Space, the messages around the cut, the profile, and what came of its idempotency key before.
// access: read
// params: space, key, throughSeq, profileKey, idempotencyKey
// returns: session, space, tail, profile, known
MATCH (sp:Space {id: $space})
MATCH (s:Session {key: $key})
OPTIONAL MATCH (f:ForkProfile {key: $profileKey})
OPTIONAL MATCH (i:Idempotency {key: $idempotencyKey})
CALL (s) {
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = $key AND r.seq >= coalesce($throughSeq, s.nextSeq - 1) AND r.seq < coalesce($throughSeq, s.nextSeq - 1) + 2
  WITH r, m ORDER BY r.sk, r.seq
  RETURN collect([m.id, m.sessionId, m.role, m.content, m.parts, m.state, m.toolCalls, m.toolCallId,
    m.toolName, m.isError, m.durationMs, m.model, m.usage, m.turnId, m.createdAt, r.seq]) AS tail
}
RETURN collect({session: s {.*}, space: sp {.*}, tail: tail, profile: f {.*}, known: i {.*}}) AS rows
