MATCH (s:Session)
USING INDEX SEEK s:Session(spaceId, rootId, key)
WHERE s.spaceId = $space AND s.rootId = 'turns' AND s.key > '' AND s.lastTurnNumber > 0
CALL (s) {
  OPTIONAL MATCH (s)-[:HAS_TURN]->(t:Turn)
  WITH s, collect(t) AS turns
  OPTIONAL MATCH (s)-[:HAS_MESSAGE]->(m:Message)
  WITH s, turns, collect(m) AS messages
  MATCH (n:TopologyNode {key: s.key})
  WITH s, n, turns, messages, size([t IN turns WHERE t.status = 'COMPLETED']) AS completed, size(messages) AS said
  FOREACH (t IN turns | DETACH DELETE t)
  FOREACH (m IN messages | DETACH DELETE m)
  SET s.nextSeq = 1, s.messageCount = 0, s.turnCount = n.index % 7, s.lastTurnNumber = 0, s.openTurnId = null,
    s.lastActiveAt = s.createdAt, n.turnCount = n.index % 7, n.lastActiveAt = n.createdAt
  RETURN completed, said
} IN TRANSACTIONS OF 50 ROWS
RETURN sum(completed) AS completed, sum(said) AS said
