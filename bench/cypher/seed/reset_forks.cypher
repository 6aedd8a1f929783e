MATCH (n:TopologyNode)-[:PARENT]->(p:TopologyNode)-[:PARENT]->(:TopologyNode {key: $space + '/forks'})
CALL (n, p) {
  MATCH (s:Session {key: n.key})
  DETACH DELETE s, n
  SET p.childCount = 0, p.nextIndex = 0
  RETURN count(*) AS forked
} IN TRANSACTIONS OF 1000 ROWS
RETURN sum(forked) AS forked
