// purpose: Creates sessions as an export has them, all or none: transcripts, turns and links with them, as roots or as children of
//   nodes that are there. They keep their places among each other, after the siblings that are there. The delete-lock comes first,
//   then parents and ends of links in the order of their keys, the Space last.
//   RACE: the index does not show all messages that are to be shared.
// access: write
// params: space, op, eventKey, keys, parents, roots, nodes, shared, sessions, transcripts, refs
// returns: outcome
MATCH (d:DeleteLock {key: $space})
SET d.lock = $op
WITH d
CALL () {
  UNWIND $nodes AS key
  MATCH (n:TopologyNode {key: key})
  SET n.lock = $op
  WITH n WHERE n.lock IS NOT NULL
  RETURN count(n) AS nodes
}
CALL () {
  UNWIND $parents AS one
  WITH one['key'] AS key
  MATCH (p:TopologyNode {key: key})
  RETURN collect(p) AS parents
}
MATCH (sp:Space {id: $space})
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
CALL () {
  UNWIND $keys AS key
  MATCH (taken:Session {key: key})
  RETURN count(taken) AS taken
}
CALL () {
  UNWIND $shared AS key
  MATCH (m:Message {key: key})
  RETURN count(m) AS shared
}
WITH sp, parents, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN taken > 0 THEN 'TAKEN'
  WHEN size(parents) < size($parents) OR nodes < size($nodes) THEN 'GONE'
  WHEN shared < size($shared) THEN 'RACE'
  ELSE 'DONE' END AS outcome
CALL (sp, parents, outcome) {
  WITH sp, parents, outcome WHERE outcome = 'DONE'
  CALL (parents) {
    UNWIND range(0, size($sessions) - 1) AS number
    WITH $sessions[number] AS given, $transcripts[number] AS transcript, parents[$sessions[number].parentPlace] AS p
    CREATE (s:Session {key: given.key})
    SET s = given.session, s.rootId = coalesce(p.rootId, s.id), s.strategy = coalesce(p.strategy, s.strategy)
    FOREACH (place IN transcript.places |
      MERGE (m:Message {key: place.key})
      ON CREATE SET m = place.message
      CREATE (s)-[:HAS_MESSAGE {sk: given.key, seq: place.seq}]->(m))
    FOREACH (turn IN transcript.turns |
      CREATE (t:Turn {key: turn.key})
      SET t = turn, t.endedBy = $op
      CREATE (s)-[:HAS_TURN]->(t))
    RETURN collect(s) AS sessions
  }
  // What takes long is done: the Space is locked last.
  SET sp.lock = $op
  WITH sp, parents, sessions, datetime.realtime() AS clock
  WITH sp, parents, sessions, clock.epochSeconds * 1000000 + clock.microsecond AS now, sp.eventSeq AS before,
    sp.nextRootIndex AS nextRoot, [p IN parents | p.nextIndex] AS nexts
  CALL (sp, parents, sessions, now, before, nextRoot, nexts) {
    UNWIND range(0, size(sessions) - 1) AS number
    WITH sp, now, before + 1 + number AS seq, sessions[number] AS s, $sessions[number] AS given, parents, nexts, nextRoot
    WITH sp, now, seq, s, given, parents[given.parentPlace] AS p, coalesce(nexts[given.parentPlace], nextRoot) AS next
    SET s.eventSeq = seq, s.memorySeq = CASE WHEN s.memory IS NULL THEN null ELSE seq END
    CREATE (n:TopologyNode {key: given.key, spaceId: $space, id: s.id, parentId: p.id, parentKey: coalesce(p.key, $space),
      rootId: s.rootId, label: s.label, status: s.status, role: s.role, strategy: s.strategy, depth: coalesce(p.depth + 1, 0),
      index: given.index + CASE WHEN next > given.first THEN next - given.first ELSE 0 END, nextIndex: 0, childCount: 0,
      turnCount: s.turnCount, sourceSessionId: given.sourceSessionId, sourceSeq: given.sourceSeq,
      createdAt: s.createdAt, lastActiveAt: s.lastActiveAt})
    FOREACH (_ IN CASE WHEN p IS NULL THEN [1] ELSE [] END | CREATE (n)-[:ROOT_OF]->(sp))
    FOREACH (_ IN CASE WHEN p IS NULL THEN [] ELSE [1] END | CREATE (n)-[:PARENT]->(p))
    CREATE (:TopologyEvent {key: given.eventKey, spaceId: $space, seq: seq, type: given.type, nodeId: s.id,
      rootId: s.rootId, data: given.data, at: now})
    RETURN count(s) AS made
  }
  CALL (now, before) {
    UNWIND range(0, size($refs) - 1) AS number
    WITH now, before + size($sessions) + 1 + number AS seq, $refs[number] AS ref
    MATCH (f:TopologyNode {key: ref.fromKey})
    MATCH (t:TopologyNode {key: ref.toKey})
    CREATE (f)-[:REF {at: ref.at, seq: ref.seq}]->(t)
    CREATE (:TopologyEvent {key: ref.eventKey, spaceId: $space, seq: seq, type: 'REF_ADDED', nodeId: f.id,
      rootId: f.rootId, data: ref.data, at: now})
    RETURN count(f) AS linked
  }
  SET sp.settledSeq = before, sp.eventSeq = before + made + linked, sp.sessionCount = sp.sessionCount + made,
    sp.nextRootIndex = $roots.last + 1 + CASE WHEN nextRoot > $roots.first THEN nextRoot - $roots.first ELSE 0 END
  FOREACH (place IN range(0, size(parents) - 1) |
    FOREACH (p IN [parents[place]] |
      SET p.childCount = p.childCount + $parents[place].children, p.nextIndex = $parents[place].last + 1 +
        CASE WHEN nexts[place] > $parents[place].first THEN nexts[place] - $parents[place].first ELSE 0 END))
}
RETURN [{outcome: outcome}] AS rows
