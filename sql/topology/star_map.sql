-- purpose: The whole map of a Space in columns, level by level, at most limit nodes. The event number is read first.
-- access: read
-- params: space, maxDepth, limit, includeArchived
-- returns: eventSeq, ids, parentIds, sourceIds, labels, statuses, roles, depths, indexes, childCounts, turnCounts, lastActiveAts, refs
-- json: ids, parentIds, sourceIds, labels, statuses, roles, depths, indexes, childCounts, turnCounts, lastActiveAts, refs
WITH kept AS (
  SELECT n.* FROM topology_node AS n
  WHERE n.spaceId = :space AND n.depth <= :maxDepth AND (:includeArchived OR n.status = 'ACTIVE' OR EXISTS (
    WITH RECURSIVE below (key, status) AS (
      SELECT c.key, c.status FROM topology_node AS c WHERE c.parentKey = n.key
      UNION ALL
      SELECT c.key, c.status FROM below JOIN topology_node AS c ON c.parentKey = below.key
    )
    SELECT 1 FROM below WHERE status = 'ACTIVE'))
  ORDER BY n.depth, n."index" LIMIT :limit
)
SELECT * FROM (
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
  FROM kept
) WHERE eventSeq IS NOT NULL;
