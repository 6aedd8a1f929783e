// purpose: Nodes by key.
// access: read
// params: keys
// returns: id, parentId, label, status, role, depth, index, childCount, turnCount, sourceSessionId, sourceSeq, createdAt, lastActiveAt
UNWIND $keys AS key
MATCH (n:TopologyNode {key: key})
RETURN collect(n {.id, .parentId, .label, .status, .role,
    .depth, .index, .childCount, .turnCount,
    .sourceSessionId, .sourceSeq, .createdAt, .lastActiveAt}) AS rows
