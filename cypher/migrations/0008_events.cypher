// An event keeps the id of its tree's root, which outlives the session. Of what was deleted before, the tree is not known.
MATCH (e:TopologyEvent) WHERE e.rootId IS NULL
CALL (e) {
  OPTIONAL MATCH (s:Session {key: e.spaceId + '/' + e.nodeId})
  SET e.rootId = coalesce(s.rootId, e.nodeId)
} IN TRANSACTIONS OF 10000 ROWS;
