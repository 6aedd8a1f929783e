// purpose: The nodes that refer to each node, in the order of insertion.
// access: read
// params: keys, first, offset
// returns: key, nodes
UNWIND $keys AS key
MATCH (self:TopologyNode {key: key})
CALL (self) {
  MATCH (self)<-[r:REF]-(n:TopologyNode)
  WITH n, r ORDER BY r.seq SKIP $offset LIMIT $first
  RETURN collect(n {.id, .parentId, .label, .status, .role,
    .depth, .index, .childCount, .turnCount,
    .sourceSessionId, .sourceSeq, .createdAt, .lastActiveAt}) AS nodes
}
RETURN collect({key: key, nodes: nodes}) AS rows
