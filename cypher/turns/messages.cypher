// purpose: What each turn wrote and its session still has, oldest first.
// access: read
// params: keys
// texts: many
// shared: keys
// returns: key, messages
UNWIND $keys AS key
MATCH (t:Turn {key: key})
CALL (t) {
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = t.sk AND r.seq >= t.firstSeq AND r.seq <= t.lastSeq
  WITH r, m ORDER BY r.sk, r.seq
  RETURN collect([m.id, m.sessionId, m.role, m.content, m.parts, m.state, m.toolCalls, m.toolCallId,
    m.toolName, m.isError, m.durationMs, m.model, m.usage, m.turnId, m.createdAt, r.seq]) AS messages
}
RETURN collect({key: key, messages: messages}) AS rows
