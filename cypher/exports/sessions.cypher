// purpose: Sessions by key, each with its place in the topology and what it refers to, in the order of insertion.
// access: read
// params: keys
// texts: many
// returns: session.*, parentId, index, sourceSessionId, sourceSeq, refs
UNWIND $keys AS key
MATCH (s:Session {key: key})
MATCH (n:TopologyNode {key: key})
CALL (n) {
  MATCH (n)-[r:REF]->(to:TopologyNode)
  WITH r, to ORDER BY r.seq
  RETURN collect({toId: to.id, at: r.at}) AS refs
}
RETURN collect(s {.*, parentId: n.parentId, index: n.index, sourceSessionId: n.sourceSessionId,
  sourceSeq: n.sourceSeq, refs: refs}) AS rows
