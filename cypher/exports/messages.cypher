// purpose: The oldest messages of each session after a place, each with its home: the session that it was written in, where that
//   has it at the same place, else the first of those that have it.
// access: read
// params: space, keys, after, before, first
// texts: many
// returns: key, messages
UNWIND $keys AS key
CALL (key) {
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = key AND r.seq > $after AND r.seq < $before
  WITH r, m ORDER BY r.sk ASC, r.seq ASC LIMIT $first
  CALL (r, m) {
    OPTIONAL MATCH ()-[o:HAS_MESSAGE]->(m)
    USING INDEX SEEK o:HAS_MESSAGE(sk, seq)
    WHERE o.sk = $space + '/' + m.sessionId AND o.seq = r.seq
    RETURN count(o) > 0 AS atHome
  }
  CALL (m, atHome) {
    WITH m, atHome WHERE NOT atHome
    MATCH (s:Session)-[:HAS_MESSAGE]->(m)
    RETURN min(s.id) AS first
  }
  RETURN collect(m {.id, .sessionId, .role, .content, .parts, .state, .toolCalls, .toolCallId, .toolName, .isError, .durationMs,
    .model, .usage, .turnId, .createdAt, seq: r.seq, home: CASE WHEN atHome THEN m.sessionId ELSE first END}) AS messages
}
RETURN collect({key: key, messages: messages}) AS rows
