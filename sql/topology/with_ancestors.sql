-- purpose: Nodes by key, each with its ancestors, the root first.
-- access: read
-- params: keys
-- shared: keys
-- returns: key, id, parentId, label, status, role, depth, index, childCount, turnCount, sourceSessionId, sourceSeq, createdAt, lastActiveAt, ancestors
-- json: ancestors
WITH RECURSIVE up (start, key, parentKey) AS (
  SELECT n.key, n.key, n.parentKey FROM json_each(:keys) AS k JOIN topology_node AS n ON n.key = k.value
  UNION ALL
  SELECT up.start, n.key, n.parentKey FROM up JOIN topology_node AS n ON n.key = up.parentKey
)
SELECT s.key, s.id, s.parentId, s.label, s.status, s.role, s.depth, s."index", s.childCount, s.turnCount, s.sourceSessionId, s.sourceSeq, s.createdAt, s.lastActiveAt,
  (SELECT json_group_array(json_array(id, parentId, label, status, role, depth, "index", childCount, turnCount, sourceSessionId,
      sourceSeq, createdAt, lastActiveAt))
    FROM (SELECT n.* FROM up JOIN topology_node AS n ON n.key = up.key
      WHERE up.start = s.key AND up.key <> s.key ORDER BY n.depth)) AS ancestors
FROM json_each(:keys) AS k JOIN topology_node AS s ON s.key = k.value;
