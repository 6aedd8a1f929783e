// purpose: The whole map of a Space in columns, level by level, at most limit nodes. The event number is read first.
// access: read
// params: space, maxDepth, limit, includeArchived
// returns: eventSeq, ids, parentIds, labels, statuses, roles, depths, indexes, childCounts, turnCounts, lastActiveAts, refs
MATCH (sp:Space {id: $space})
// A commit shows piece by piece, its index entries last; what came before the newest event is there whole.
WITH CASE sp.eventSeq WHEN 0 THEN 0 ELSE sp.eventSeq - 1 END AS eventSeq
CALL () {
  MATCH (n:TopologyNode)
  USING INDEX SEEK n:TopologyNode(spaceId, depth, index)
  WHERE n.spaceId = $space AND n.depth <= $maxDepth AND n.index >= 0
    AND ($includeArchived OR n.status = 'ACTIVE'
      OR EXISTS { (n)<-[:PARENT*1..]-(:TopologyNode {status: 'ACTIVE'}) })
  WITH n ORDER BY n.spaceId, n.depth, n.index LIMIT $limit
  RETURN collect(n.id) AS ids, collect(coalesce(n.parentId, '')) AS parentIds, collect(n.label) AS labels,
    collect(CASE n.status WHEN 'ACTIVE' THEN 0 ELSE 1 END) AS statuses,
    collect(CASE n.role WHEN 'STANDARD' THEN 0 ELSE 1 END) AS roles,
    collect(n.depth) AS depths, collect(n.index) AS indexes, collect(n.childCount) AS childCounts,
    collect(n.turnCount) AS turnCounts, collect(n.lastActiveAt / 1000) AS lastActiveAts, collect(n) AS nodes
}
CALL (nodes) {
  UNWIND nodes AS n
  MATCH (n)-[r:REF]->(to:TopologyNode)
  WITH n, to ORDER BY r.seq
  RETURN collect([n.id, to.id]) AS refs
}
RETURN collect({eventSeq: eventSeq, ids: ids, parentIds: parentIds, labels: labels, statuses: statuses, roles: roles,
  depths: depths, indexes: indexes, childCounts: childCounts, turnCounts: turnCounts, lastActiveAts: lastActiveAts,
  refs: refs}) AS rows
