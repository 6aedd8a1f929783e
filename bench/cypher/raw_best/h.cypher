MATCH (:TopologyNode {key: $key})-[:PARENT*1..]->(a:TopologyNode)
WITH a ORDER BY a.depth
RETURN collect(a {.id, .label}) AS rows
