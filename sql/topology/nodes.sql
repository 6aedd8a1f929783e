-- purpose: Nodes by key.
-- access: read
-- params: keys
-- shared: keys
-- returns: key, id, parentId, label, status, role, depth, index, childCount, turnCount, sourceSessionId, sourceSeq, createdAt, lastActiveAt
SELECT n.key, n.id, n.parentId, n.label, n.status, n.role, n.depth, n."index", n.childCount, n.turnCount, n.sourceSessionId, n.sourceSeq, n.createdAt, n.lastActiveAt
FROM json_each(:keys) AS k JOIN topology_node AS n ON n.key = k.value;
