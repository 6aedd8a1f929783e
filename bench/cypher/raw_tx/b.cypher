MATCH (n:TopologyNode)-[:PARENT*1..3]->(:TopologyNode {key: $key})
RETURN n.id AS id, n.parentId AS parentId, n.label AS label, n.status AS status, n.childCount AS childCount,
  n.turnCount AS turnCount
ORDER BY n.depth, n.index
