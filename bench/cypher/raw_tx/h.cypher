MATCH (:TopologyNode {key: $key})-[:PARENT*1..]->(a:TopologyNode)
RETURN a.id AS id, a.label AS label
ORDER BY a.depth
