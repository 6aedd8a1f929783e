MATCH (s:Session)
USING INDEX SEEK s:Session(spaceId, rootId, key)
WHERE s.spaceId = $space AND s.rootId = 'turns' AND s.lastTurnNumber > 0
CALL (s) {
  OPTIONAL MATCH (s)-[:HAS_TURN]->(t:Turn)
  WITH s, collect(t) AS turns
  OPTIONAL MATCH (s)-[:HAS_MESSAGE]->(m:Message)
  WITH s, turns, collect(m) AS messages
  WITH s, turns, messages, size([t IN turns WHERE t.status = 'COMPLETED']) AS completed, size(messages) AS said
  FOREACH (t IN turns | DETACH DELETE t)
  FOREACH (m IN messages | DETACH DELETE m)
  SET s.nextSeq = 1, s.messageCount = 0, s.turnCount = 0, s.lastTurnNumber = 0, s.openTurnId = null
  RETURN completed, said
} IN TRANSACTIONS OF 50 ROWS
RETURN sum(completed) AS completed, sum(said) AS said
