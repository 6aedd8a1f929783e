MATCH (n:TopologyNode)
USING INDEX SEEK n:TopologyNode(spaceId, depth, index)
WHERE n.spaceId = $space AND n.depth >= 0 AND n.index >= 0
WITH n ORDER BY n.spaceId, n.depth, n.index
WITH collect(n.id) AS id, collect(coalesce(n.parentId, '')) AS parentId, collect(n.label) AS label,
  collect(n.status) AS status, collect(n.role) AS role, collect(n.depth) AS depth, collect(n.index) AS index,
  collect(n.childCount) AS childCount, collect(n.turnCount) AS turnCount, collect(n.lastActiveAt) AS lastActiveAt,
  collect(n) AS nodes
CALL (nodes) {
  UNWIND nodes AS n
  MATCH (n)-[r:REF]->(to:TopologyNode)
  WITH n, to ORDER BY r.seq
  RETURN collect([n.id, to.id]) AS refs
}
RETURN {id: id, parentId: parentId, label: label, status: status, role: role, depth: depth, index: index,
  childCount: childCount, turnCount: turnCount, lastActiveAt: lastActiveAt, refs: refs} AS columns
