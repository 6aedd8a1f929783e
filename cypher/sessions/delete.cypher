// purpose: Deletes a subtree with all that belongs to it; messages that others share stay. The delete-lock comes first, then sessions, nodes and the Space.
// access: write
// params: space, key, id, op, eventKey, expectedCount, limit
// returns: outcome, count, ids
MATCH (d:DeleteLock {key: $space})
SET d.lock = $op
WITH d
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
OPTIONAL MATCH (root:TopologyNode {key: $key})
WITH done, root WHERE done IS NOT NULL OR root IS NOT NULL
CALL (root) {
  OPTIONAL MATCH (root)<-[:PARENT*0..]-(n:TopologyNode)
  WITH n ORDER BY n.key
  RETURN collect(n.key) AS keys
}
CALL (keys) {
  UNWIND keys AS key
  MATCH (s:Session {key: key})
  SET s.lock = $op
}
CALL (keys, root) {
  UNWIND keys + [root.parentKey] AS key
  WITH key ORDER BY key
  MATCH (n:TopologyNode {key: key})
  SET n.lock = $op
}
CALL (root) {
  OPTIONAL MATCH (root)<-[:PARENT*0..]-(n:TopologyNode)
  WITH n ORDER BY n.depth, n.index
  RETURN collect(n) AS nodes, collect(n.id) AS ids
}
WITH done, root, nodes, ids, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN size(nodes) <> size(keys) THEN 'CHANGED'
  WHEN size(nodes) <> $expectedCount THEN 'COUNT'
  WHEN size(nodes) > $limit THEN 'TOO_MANY'
  ELSE 'DONE' END AS outcome
CALL (root, nodes, outcome, ids) {
  WITH root, nodes, ids, root.rootId AS rootId, root.parentId AS parentId, outcome WHERE outcome = 'DONE'
  OPTIONAL MATCH (root)-[:PARENT]->(above:TopologyNode)
  SET above.childCount = above.childCount - 1
  WITH nodes, ids, rootId, parentId
  CALL (nodes) {
    UNWIND nodes AS n
    MATCH (s:Session {key: n.key})
    OPTIONAL MATCH (s)-[r:HAS_MESSAGE]->(m:Message)
    WITH collect(DISTINCT m) AS messages, collect(r) AS edges
    FOREACH (r IN edges | DELETE r)
    WITH messages
    UNWIND messages AS m
    WITH m WHERE NOT EXISTS { ()-[:HAS_MESSAGE]->(m) }
    DELETE m
  }
  CALL (nodes) {
    UNWIND nodes AS n
    MATCH (s:Session {key: n.key})-[:HAS_TURN]->(t:Turn)
    DETACH DELETE t
  }
  CALL (nodes) {
    UNWIND nodes AS n
    MATCH (i:Idempotency {sk: n.key})
    DELETE i
  }
  CALL (nodes) {
    UNWIND nodes AS n
    MATCH (h:Holder {sk: n.key})
    SET h.lock = $op
    WITH h, n WHERE h.lock IS NOT NULL AND h.sk = n.key
    DELETE h
  }
  CALL (nodes) {
    UNWIND nodes AS n
    UNWIND ['/CONSOLIDATE:', '/INTEGRATE:'] AS kind
    MATCH (task:Task {key: $space + kind + n.id})
    SET task.lock = $op
    DELETE task
  }
  CALL (nodes) {
    UNWIND nodes AS n
    MATCH (s:Session {key: n.key})
    DETACH DELETE s, n
  }
  WITH ids, rootId, parentId
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  WITH sp, ids, rootId, parentId, datetime.realtime() AS clock
  WITH sp, ids, rootId, parentId, clock.epochSeconds * 1000000 + clock.microsecond AS now
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: sp.eventSeq + 1, type: 'SESSION_DELETED', nodeId: $id,
    rootId: rootId, data: '{"ids":["' + reduce(text = head(ids), id IN tail(ids) | text + '","' + id) + '"],"parentId":'
      + coalesce('"' + parentId + '"', 'null') + '}', ids: ids, at: now})
  SET sp.settledSeq = sp.eventSeq, sp.eventSeq = sp.eventSeq + 1, sp.sessionCount = sp.sessionCount - size(ids)
}
WITH outcome, coalesce(done.ids, ids) AS ids
RETURN collect({outcome: outcome, count: size(ids), ids: ids}) AS rows
