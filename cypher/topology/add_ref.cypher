// purpose: Adds a cross-link from one node to another; twice is once. Both nodes are locked in the order of their keys.
// access: write
// params: space, fromKey, fromId, toKey, op, eventKey, data, ofArchived
// returns: outcome, id, parentId, label, status, role, depth, index, childCount, turnCount, sourceSessionId, sourceSeq, createdAt, lastActiveAt
UNWIND CASE WHEN $fromKey < $toKey THEN [$fromKey, $toKey] ELSE [$toKey, $fromKey] END AS key
OPTIONAL MATCH (n:TopologyNode {key: key})
SET n.lock = $op
WITH count(*) AS locked
MATCH (f:TopologyNode {key: $fromKey})
OPTIONAL MATCH (t:TopologyNode {key: $toKey})
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
WITH f, t, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN t IS NULL THEN 'NO_TARGET'
  WHEN $fromKey = $toKey THEN 'SELF'
  WHEN EXISTS { (f)-[:PARENT*1..]->(t) } THEN 'ANCESTOR'
  WHEN EXISTS { (t)-[:PARENT*1..]->(f) } THEN 'DESCENDANT'
  WHEN f.status = 'ARCHIVED' AND NOT $ofArchived THEN 'ARCHIVED'
  WHEN EXISTS { (f)-[:REF]->(t) } THEN 'SAME'
  ELSE 'DONE' END AS outcome
CALL (f, t, outcome) {
  WITH f, t, outcome WHERE outcome = 'DONE'
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  WITH f, t, sp, datetime.realtime() AS clock
  WITH f, t, sp, clock.epochSeconds * 1000000 + clock.microsecond AS now
  CREATE (f)-[:REF {at: now, seq: sp.eventSeq + 1}]->(t)
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq + 1, type: 'REF_ADDED', nodeId: $fromId,
    rootId: f.rootId, data: $data, at: now})
  SET sp.settledSeq = sp.eventSeq, sp.eventSeq = sp.eventSeq + 1
}
RETURN collect(f {.*, outcome: outcome}) AS rows
