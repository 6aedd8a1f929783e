MATCH (n:TopologyNode)
WHERE n.spaceId = $space
OPTIONAL MATCH (n)-[:REF]->(to:TopologyNode)
WITH n, collect(to.id) AS refs
RETURN n.id AS id, n.parentId AS parentId, n.label AS label, n.status AS status, n.role AS role, n.depth AS depth,
  n.index AS index, n.childCount AS childCount, n.turnCount AS turnCount, n.lastActiveAt AS lastActiveAt, refs
ORDER BY n.depth, n.index
