-- purpose: The shape of a tree with what changed when, by key, without texts.
-- access: read
-- params: space, rootId, first
-- returns: id, parentId, depth, status, memorySeq, rollupSeq
SELECT s.id, s.status, s.memorySeq, s.rollupSeq, n.parentId, n.depth
FROM session AS s JOIN topology_node AS n ON n.key = s.key
WHERE s.spaceId = :space AND s.rootId = :rootId ORDER BY s.key LIMIT :first;
