// purpose: As conversation, with the whole transcript whatever was compressed.
// access: read
// params: space, key
// returns: session.*, space, transcript
MATCH (sp:Space {id: $space})
MATCH (s:Session {key: $key})
CALL (s) {
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = $key AND r.seq > 0
  WITH r, m ORDER BY r.sk, r.seq
  RETURN collect([m.id, m.sessionId, m.role, m.content, m.parts, m.state, m.toolCalls, m.toolCallId,
    m.toolName, m.isError, m.durationMs, m.model, m.usage, m.turnId, m.createdAt, r.seq]) AS transcript
}
RETURN collect(s {.*, space: sp {.*}, transcript: transcript}) AS rows
