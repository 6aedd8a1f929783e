// purpose: What is stored of sessions that an import names: their message ids in order, and where they end.
// access: read
// params: keys
// returns: key, nextSeq, messageIds
UNWIND $keys AS key
MATCH (s:Session {key: key})
CALL (key) {
  MATCH ()-[r:HAS_MESSAGE]->(m:Message)
  USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
  WHERE r.sk = key AND r.seq > 0
  WITH r, m ORDER BY r.sk, r.seq
  RETURN collect(m.id) AS messageIds
}
RETURN collect({key: key, nextSeq: s.nextSeq, messageIds: messageIds}) AS rows
