// purpose: As conversation, with the newest of the messages that the session's digest does not cover.
// access: read
// params: space, key, first
// returns: session.*, space, transcript
MATCH (sp:Space {id: $space})
MATCH (s:Session {key: $key})
CALL (s) {
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = $key AND r.seq > CASE WHEN trim(coalesce(s.memory, '')) = '' THEN 0 ELSE coalesce(s.memoryThroughSeq, 0) END
  WITH r, m ORDER BY r.sk DESC, r.seq DESC LIMIT $first
  RETURN collect([m.id, m.sessionId, m.role, m.content, m.parts, m.state, m.toolCalls, m.toolCallId,
    m.toolName, m.isError, m.durationMs, m.model, m.usage, m.turnId, m.createdAt, r.seq]) AS newest
}
RETURN collect(s {.*, space: sp {.*}, transcript: reverse(newest)}) AS rows
