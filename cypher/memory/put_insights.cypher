// purpose: Replaces the pending insights of several sessions, or of none: `insights` and `keys` are in the order of the keys.
// access: write
// params: space, op, eventKey, keys, insights
// returns: outcome, session.*
UNWIND $keys AS key
MATCH (s:Session {key: key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
WITH collect(s) AS sessions
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
WITH sessions, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN size(sessions) < size($keys) OR any(s IN sessions WHERE s.status = 'ARCHIVED') THEN 'REFUSED'
  ELSE 'DONE' END AS outcome
CALL (sessions, outcome) {
  WITH sessions, outcome WHERE outcome = 'DONE'
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  WITH sessions, sp, datetime.realtime() AS clock
  WITH sessions, sp, clock.epochSeconds * 1000000 + clock.microsecond AS now, sp.eventSeq AS before
  UNWIND range(0, size(sessions) - 1) AS place
  WITH sp, now, before, sessions[place] AS s, $insights[place] AS given, before + 1 + place AS seq
  SET s.insight = given.content, s.insightSource = given.source, s.insightAt = now, s.insightRevision = s.insightRevision + 1,
    s.updatedAt = now, s.eventSeq = seq
  CREATE (:TopologyEvent {key: given.eventKey, spaceId: $space, seq: seq, type: 'INSIGHT_PUT', nodeId: s.id,
    rootId: s.rootId, data: given.data, at: now})
  WITH sp, before, count(*) AS events
  SET sp.settledSeq = before, sp.eventSeq = before + events
}
UNWIND sessions AS s
RETURN collect(s {.*, outcome: outcome}) AS rows
