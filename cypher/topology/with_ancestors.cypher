// purpose: Nodes by key, each with its ancestors, the root first.
// access: read
// params: keys
// shared: keys
// returns: key, id, parentId, label, status, role, depth, index, childCount, turnCount, sourceSessionId, sourceSeq, createdAt, lastActiveAt, ancestors
UNWIND $keys AS key
MATCH (n:TopologyNode {key: key})
CALL (n) {
  MATCH (n)-[:PARENT*1..]->(a:TopologyNode)
  WITH a ORDER BY a.depth
  RETURN collect([a.id, a.parentId, a.label, a.status, a.role, a.depth, a.index, a.childCount, a.turnCount,
    a.sourceSessionId, a.sourceSeq, a.createdAt, a.lastActiveAt]) AS ancestors
}
RETURN collect(n {.key, .id, .parentId, .label, .status, .role,
    .depth, .index, .childCount, .turnCount,
    .sourceSessionId, .sourceSeq, .createdAt, .lastActiveAt, ancestors: ancestors}) AS rows
