MATCH (n:TopologyNode)-[:PARENT]->(:TopologyNode {key: $key})
RETURN n.id AS id, n.label AS label, n.status AS status, n.childCount AS childCount, n.turnCount AS turnCount
ORDER BY n.index
LIMIT 100
