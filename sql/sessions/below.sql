-- purpose: How many sessions a subtree has, and the turns that hold some of them.
-- access: read
-- params: key
-- returns: count, openTurns
-- json: openTurns
WITH RECURSIVE below (key) AS (
  SELECT key FROM topology_node WHERE key = :key
  UNION ALL
  SELECT n.key FROM below JOIN topology_node AS n ON n.parentKey = below.key
)
SELECT count(*) AS count, json_group_array(s.openTurnId) FILTER (WHERE s.openTurnId IS NOT NULL) AS openTurns
FROM below JOIN session AS s ON s.key = below.key GROUP BY NULL;
