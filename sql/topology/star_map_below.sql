-- purpose: As star_map, for the subtree of one node; depths are counted from there, the node itself is always kept.
-- access: read
-- params: space, root, maxDepth, limit, includeArchived
-- returns: eventSeq, ids, parentIds, sourceIds, labels, statuses, roles, depths, indexes, childCounts, turnCounts, lastActiveAts, refs
-- json: ids, parentIds, sourceIds, labels, statuses, roles, depths, indexes, childCounts, turnCounts, lastActiveAts, refs
WITH RECURSIVE down (key, depth) AS (
  SELECT key, 0 FROM topology_node WHERE key = :root
  UNION ALL
  SELECT c.key, down.depth + 1 FROM down JOIN topology_node AS c ON c.parentKey = down.key
  WHERE down.depth < :maxDepth
),
kept AS (
  SELECT n.* FROM down JOIN topology_node AS n ON n.key = down.key
  WHERE true AND (:includeArchived OR n.status = 'ACTIVE' OR n.key = :root OR EXISTS (
    WITH RECURSIVE below (key, status) AS (
      SELECT c.key, c.status FROM topology_node AS c WHERE c.parentKey = n.key
      UNION ALL
      SELECT c.key, c.status FROM below JOIN topology_node AS c ON c.parentKey = below.key
    )
    SELECT 1 FROM below WHERE status = 'ACTIVE'))
  ORDER BY n.depth, n."index" LIMIT :limit
)
SELECT (SELECT eventSeq FROM space WHERE id = :space) AS eventSeq,
  json_group_array(id) AS ids,
  json_group_array(coalesce(parentId, '')) AS parentIds,
  json_group_array(coalesce(sourceSessionId, '')) AS sourceIds,
  json_group_array(label) AS labels,
  json_group_array(CASE status WHEN 'ACTIVE' THEN 0 ELSE 1 END) AS statuses,
  json_group_array(CASE role WHEN 'STANDARD' THEN 0 ELSE 1 END) AS roles,
  json_group_array(depth) AS depths,
  json_group_array("index") AS indexes,
  json_group_array(childCount) AS childCounts,
  json_group_array(turnCount) AS turnCounts,
  json_group_array(lastActiveAt / 1000) AS lastActiveAts,
  (SELECT json_group_array(json_array(f, t)) FROM (
    SELECT f.id AS f, t.id AS t FROM kept AS f JOIN ref ON ref.fromKey = f.key
      JOIN topology_node AS t ON t.key = ref.toKey ORDER BY ref.seq)) AS refs
FROM kept GROUP BY NULL;
