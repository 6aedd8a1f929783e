// purpose: Nodes by key.
// access: read
// params: keys
// shared: keys
// returns: key, id, parentId, label, status, role, depth, index, childCount, turnCount, sourceSessionId, sourceSeq, createdAt, lastActiveAt
UNWIND $keys AS key
MATCH (n:TopologyNode {key: key})
RETURN collect(n {.key, .id, .parentId, .label, .status, .role,
    .depth, .index, .childCount, .turnCount,
    .sourceSessionId, .sourceSeq, .createdAt, .lastActiveAt}) AS rows
