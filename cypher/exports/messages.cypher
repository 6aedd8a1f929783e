// purpose: The oldest messages of each session after a place, each with whether another place has it too.
// access: read
// params: keys, after, before, first
// texts: many
// returns: key, messages
UNWIND $keys AS key
CALL (key) {
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = key AND r.seq > $after AND r.seq < $before
  WITH r, m ORDER BY r.sk ASC, r.seq ASC LIMIT $first
  RETURN collect(m {.id, .sessionId, .role, .content, .parts, .state, .toolCalls, .toolCallId, .toolName, .isError, .durationMs,
    .model, .usage, .turnId, .createdAt, seq: r.seq, isShared: COUNT { ()-[:HAS_MESSAGE]->(m) } > 1}) AS messages
}
RETURN collect({key: key, messages: messages}) AS rows
