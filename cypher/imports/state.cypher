// purpose: What is stored of the sessions of imported conversations: their message ids in order, how many they count, and where they end.
// access: read
// params: keys
// returns: conversation, key, nextSeq, messageCount, messageIds
UNWIND $keys AS conversation
MATCH (s:Session)
USING INDEX SEEK s:Session(key)
WHERE s.key = conversation OR s.key STARTS WITH conversation + ':'
CALL (s) {
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = s.key AND r.seq > 0
  WITH r, m ORDER BY r.sk, r.seq
  RETURN collect(m.id) AS messageIds
}
RETURN collect({conversation: conversation, key: s.key, nextSeq: s.nextSeq, messageCount: s.messageCount, messageIds: messageIds}) AS rows
