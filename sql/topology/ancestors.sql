-- purpose: The ancestors of each node, the root first.
-- access: read
-- params: keys, columns
-- shared: keys
-- returns: key, ancestors
-- json: ancestors
WITH RECURSIVE up (start, key, parentKey) AS (
  SELECT n.key, n.key, n.parentKey FROM json_each(:keys) AS k JOIN topology_node AS n ON n.key = k.value
  UNION ALL
  SELECT up.start, n.key, n.parentKey FROM up JOIN topology_node AS n ON n.key = up.parentKey
)
SELECT k.value AS key,
  (SELECT json_group_array(json_array(:columns))
    FROM (SELECT n.* FROM up JOIN topology_node AS n ON n.key = up.key
      WHERE up.start = k.value AND up.key <> k.value ORDER BY n.depth)) AS ancestors
FROM json_each(:keys) AS k WHERE EXISTS (SELECT 1 FROM topology_node WHERE key = k.value);
