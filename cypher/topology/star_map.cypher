// purpose: The whole map of a Space in columns, level by level, at most limit nodes. The event number is read first.
// access: read
// params: space, maxDepth, limit, includeArchived
// returns: eventSeq, ids, parentIds, sourceIds, labels, statuses, roles, depths, indexes, childCounts, turnCounts, lastActiveAts, refs
MATCH (sp:Space {id: $space})
// A commit shows piece by piece, its index entries last; what came before the newest write is there whole.
// A Space that was not written to since settledSeq came has none.
WITH coalesce(sp.settledSeq, CASE sp.eventSeq WHEN 0 THEN 0 ELSE sp.eventSeq - 1 END) AS eventSeq
CALL () {
  MATCH (n:TopologyNode)
  USING INDEX SEEK n:TopologyNode(spaceId, depth, index)
  WHERE n.spaceId = $space AND n.depth <= $maxDepth AND n.index >= 0
    AND ($includeArchived OR n.status = 'ACTIVE'
      OR EXISTS { (n)<-[:PARENT*1..]-(:TopologyNode {status: 'ACTIVE'}) })
  WITH n ORDER BY n.spaceId, n.depth, n.index LIMIT $limit
  WITH n, n.id AS id, n.parentId AS parentId, n.sourceSessionId AS sourceId, n.label AS label, n.status AS status,
    n.role AS role, n.depth AS depth, n.index AS index, n.childCount AS childCount, n.turnCount AS turnCount,
    n.lastActiveAt AS lastActiveAt
  // A node is read property by property, and the commit of its deletion may fall between: it would shift the columns.
  WHERE id IS NOT NULL AND label IS NOT NULL AND status IS NOT NULL AND role IS NOT NULL
    AND (depth = 0 OR parentId IS NOT NULL) AND index IS NOT NULL AND childCount IS NOT NULL
    AND turnCount IS NOT NULL AND lastActiveAt IS NOT NULL
  RETURN collect(id) AS ids, collect(coalesce(parentId, '')) AS parentIds,
    collect(coalesce(sourceId, '')) AS sourceIds, collect(label) AS labels,
    collect(CASE status WHEN 'ACTIVE' THEN 0 ELSE 1 END) AS statuses,
    collect(CASE role WHEN 'STANDARD' THEN 0 ELSE 1 END) AS roles,
    collect(depth) AS depths, collect(index) AS indexes, collect(childCount) AS childCounts,
    collect(turnCount) AS turnCounts, collect(lastActiveAt / 1000) AS lastActiveAts, collect(n) AS nodes
}
CALL (nodes) {
  UNWIND nodes AS n
  MATCH (n)-[r:REF]->(to:TopologyNode)
  WITH n, to ORDER BY r.seq
  RETURN collect([n.id, to.id]) AS refs
}
RETURN collect({eventSeq: eventSeq, ids: ids, parentIds: parentIds, sourceIds: sourceIds, labels: labels,
  statuses: statuses, roles: roles, depths: depths, indexes: indexes, childCounts: childCounts, turnCounts: turnCounts,
  lastActiveAts: lastActiveAts, refs: refs}) AS rows
