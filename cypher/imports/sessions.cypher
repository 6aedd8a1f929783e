// purpose: Creates many sessions with messages of their own, all or none: roots, or children of nodes that are there already.
//   `parents` are in the order of the keys, each with the number of its new children; a session names its parent by the place there.
//   `transcripts` are in the order of the sessions.
// access: write
// params: space, op, eventKey, keys, parents, sessions, transcripts
// returns: outcome
MATCH (sp:Space {id: $space})
CALL () {
  UNWIND $parents AS one
  WITH one['key'] AS key
  MATCH (p:TopologyNode {key: key})
  SET p.lock = $op
  WITH p WHERE p.lock IS NOT NULL
  RETURN collect(p) AS parents
}
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
CALL () {
  UNWIND $keys AS key
  MATCH (taken:Session {key: key})
  RETURN count(taken) AS taken
}
WITH sp, parents, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN taken > 0 THEN 'TAKEN'
  WHEN size(parents) < size($parents) THEN 'NO_PARENT'
  ELSE 'DONE' END AS outcome
CALL (sp, parents, outcome) {
  WITH sp, parents, outcome WHERE outcome = 'DONE'
  WITH sp, parents, [p IN parents | p.nextIndex] AS places, datetime.realtime() AS clock
  WITH sp, parents, places, clock.epochSeconds * 1000000 + clock.microsecond AS now
  CALL (sp, parents, now) {
    UNWIND range(0, size($sessions) - 1) AS number
    WITH sp, parents, now, $sessions[number] AS given, $transcripts[number] AS transcript
    WITH sp, now, given, transcript, parents[given.parentPlace] AS p
    CREATE (s:Session {key: given.key, spaceId: $space, id: given.id, rootId: coalesce(p.rootId, given.id), label: given.label,
      labelTerms: given.labelTerms, role: 'STANDARD', status: given.status, strategy: coalesce(p.strategy, given.strategy, sp.strategy, 'TREE'),
      tags: given.tags, metadata: given.metadata, memoryRevision: 0, insightRevision: 0, turnCount: given.turnCount,
      messageCount: given.messageCount, nextSeq: given.messageCount + 1, lastTurnNumber: 0,
      inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, llmCalls: 0,
      createdAt: coalesce(given.createdAt, now), updatedAt: coalesce(given.updatedAt, now),
      lastActiveAt: coalesce(given.lastActiveAt, now)})
    FOREACH (offset IN range(0, given.messageCount - 1) |
      FOREACH (message IN [transcript.messages[offset]] |
        MERGE (m:Message {key: message.key})
        ON CREATE SET m = message, m.createdAt = coalesce(message.createdAt, s.createdAt)
        CREATE (s)-[:HAS_MESSAGE {sk: given.key, seq: offset + 1}]->(m)))
    RETURN collect(s) AS sessions
  }
  // What takes long is done: the Space is locked last.
  SET sp.lock = $op
  WITH sp, parents, places, sessions, datetime.realtime() AS clock
  WITH sp, parents, places, sessions, clock.epochSeconds * 1000000 + clock.microsecond AS now, sp.eventSeq AS before,
    sp.nextRootIndex AS nextRoot
  UNWIND range(0, size(sessions) - 1) AS number
  WITH sp, now, before, nextRoot, before + 1 + number AS seq, sessions[number] AS s, $sessions[number] AS given, parents, places
  WITH sp, now, before, nextRoot, seq, s, given, parents, parents[given.parentPlace] AS p, places[given.parentPlace] AS place
  SET s.eventSeq = seq
  CREATE (n:TopologyNode {key: given.key, spaceId: $space, id: given.id, parentId: p.id, parentKey: coalesce(p.key, $space),
    rootId: s.rootId, label: given.label, status: given.status, role: 'STANDARD', strategy: s.strategy,
    depth: coalesce(p.depth + 1, 0), index: coalesce(place, nextRoot) + given.offset, nextIndex: 0, childCount: 0,
    turnCount: given.turnCount, sourceSessionId: given.sourceId, createdAt: s.createdAt, lastActiveAt: s.lastActiveAt})
  FOREACH (_ IN CASE WHEN p IS NULL THEN [1] ELSE [] END | CREATE (n)-[:ROOT_OF]->(sp))
  FOREACH (_ IN CASE WHEN p IS NULL THEN [] ELSE [1] END | CREATE (n)-[:PARENT]->(p))
  CREATE (:TopologyEvent {key: given.eventKey, spaceId: $space, seq: seq, type: given.type, nodeId: given.id,
    rootId: s.rootId, data: given.data, at: now})
  WITH sp, parents, before, count(*) AS made, sum(CASE WHEN p IS NULL THEN 1 ELSE 0 END) AS roots
  SET sp.settledSeq = before, sp.eventSeq = before + made, sp.sessionCount = sp.sessionCount + made,
    sp.nextRootIndex = sp.nextRootIndex + roots
  FOREACH (place IN range(0, size(parents) - 1) |
    FOREACH (p IN [parents[place]] |
      SET p.nextIndex = p.nextIndex + $parents[place].children, p.childCount = p.childCount + $parents[place].children))
}
RETURN [{outcome: outcome}] AS rows
