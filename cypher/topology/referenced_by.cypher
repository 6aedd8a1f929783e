// purpose: The nodes that refer to each node, in the order of insertion.
// access: read
// params: keys, first, offset
// shared: keys
// returns: key, nodes
UNWIND $keys AS key
MATCH (self:TopologyNode {key: key})
CALL (self) {
  MATCH (self)<-[r:REF]-(n:TopologyNode)
  WITH n, r ORDER BY r.seq SKIP $offset LIMIT $first
  RETURN collect([n.id, n.parentId, n.label, n.status, n.role, n.depth, n.index, n.childCount, n.turnCount,
    n.sourceSessionId, n.sourceSeq, n.createdAt, n.lastActiveAt]) AS nodes
}
RETURN collect({key: key, nodes: nodes}) AS rows
