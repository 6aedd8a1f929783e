// purpose: The shape of a tree with what changed when, by key, without texts.
// access: read
// params: space, rootId, first
// returns: id, parentId, depth, status, memorySeq, rollupSeq
MATCH (s:Session)
USING INDEX SEEK s:Session(spaceId, rootId, key)
WHERE s.spaceId = $space AND s.rootId = $rootId AND s.key > ''
WITH s ORDER BY s.spaceId, s.rootId, s.key LIMIT $first
MATCH (n:TopologyNode {key: s.key})
RETURN collect(s {.id, .status, .memorySeq, .rollupSeq, parentId: n.parentId, depth: n.depth}) AS rows
