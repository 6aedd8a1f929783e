// purpose: Deletes a part of what was in a deleted Space, at most so much of each kind, and the last of the Space once nothing is left.
//   Nothing before the delay is over: whoever still trusts a key of the Space sees all of it or nothing.
// access: write
// params: id, op, delay, limit
// returns: outcome
MATCH (gone:DeletedSpace {id: $id})
SET gone.lock = $op
WITH gone, datetime.realtime() AS clock
WITH gone, CASE
  WHEN clock.epochSeconds * 1000000 + clock.microsecond < gone.deletedAt + $delay THEN 'WAIT'
  ELSE 'DONE' END AS outcome
CALL (outcome) {
  WITH outcome WHERE outcome = 'DONE'
  MATCH (n:Message) WHERE n.key STARTS WITH $id + '/'
  WITH n ORDER BY n.key LIMIT $limit
  DETACH DELETE n
  RETURN count(*) AS messages
}
CALL (outcome) {
  WITH outcome WHERE outcome = 'DONE'
  MATCH (n:Turn) WHERE n.key STARTS WITH $id + '/'
  WITH n ORDER BY n.key LIMIT $limit
  DETACH DELETE n
  RETURN count(*) AS turns
}
CALL (outcome) {
  WITH outcome WHERE outcome = 'DONE'
  MATCH (n:Idempotency) WHERE n.key STARTS WITH $id + '/'
  WITH n ORDER BY n.key LIMIT $limit
  DETACH DELETE n
  RETURN count(*) AS idempotencies
}
CALL (outcome) {
  WITH outcome WHERE outcome = 'DONE'
  MATCH (n:Holder) WHERE n.key STARTS WITH $id + '/'
  WITH n ORDER BY n.key LIMIT $limit
  DETACH DELETE n
  RETURN count(*) AS holders
}
CALL (outcome) {
  WITH outcome WHERE outcome = 'DONE'
  MATCH (n:TopologyEvent) WHERE n.key STARTS WITH $id + '/'
  WITH n ORDER BY n.key LIMIT $limit
  DETACH DELETE n
  RETURN count(*) AS topologyEvents
}
CALL (outcome) {
  WITH outcome WHERE outcome = 'DONE'
  MATCH (n:Record) WHERE n.key STARTS WITH $id + '/'
  WITH n ORDER BY n.key LIMIT $limit
  DETACH DELETE n
  RETURN count(*) AS records
}
CALL (outcome) {
  WITH outcome WHERE outcome = 'DONE'
  MATCH (n:SharedMemory) WHERE n.key STARTS WITH $id + '/'
  WITH n ORDER BY n.key LIMIT $limit
  DETACH DELETE n
  RETURN count(*) AS sharedMemories
}
CALL (outcome) {
  WITH outcome WHERE outcome = 'DONE'
  MATCH (n:Skill) WHERE n.key STARTS WITH $id + '/'
  WITH n ORDER BY n.key LIMIT $limit
  DETACH DELETE n
  RETURN count(*) AS skills
}
CALL (outcome) {
  WITH outcome WHERE outcome = 'DONE'
  MATCH (n:ForkProfile) WHERE n.key STARTS WITH $id + '/'
  WITH n ORDER BY n.key LIMIT $limit
  DETACH DELETE n
  RETURN count(*) AS forkProfiles
}
CALL (outcome) {
  WITH outcome WHERE outcome = 'DONE'
  MATCH (n:Task) WHERE n.key STARTS WITH $id + '/'
  WITH n ORDER BY n.key LIMIT $limit
  DETACH DELETE n
  RETURN count(*) AS tasks
}
CALL (outcome) {
  WITH outcome WHERE outcome = 'DONE'
  MATCH (n:ApiKey) WHERE n.key STARTS WITH $id + '/'
  WITH n ORDER BY n.key LIMIT $limit
  DETACH DELETE n
  RETURN count(*) AS apiKeys
}
// A session whose messages are many is deleted after them: its edges would all go in one transaction.
CALL (outcome, messages, turns) {
  WITH outcome, messages, turns WHERE outcome = 'DONE' AND messages + turns = 0
  MATCH (n:Session) WHERE n.key STARTS WITH $id + '/'
  WITH n ORDER BY n.key LIMIT $limit
  DETACH DELETE n
  RETURN count(*) AS sessions
}
CALL (outcome, messages, turns) {
  WITH outcome, messages, turns WHERE outcome = 'DONE' AND messages + turns = 0
  MATCH (n:TopologyNode) WHERE n.key STARTS WITH $id + '/'
  WITH n ORDER BY n.key LIMIT $limit
  DETACH DELETE n
  RETURN count(*) AS topologyNodes
}
WITH gone, outcome, messages + turns + idempotencies + holders + topologyEvents + records
  + sharedMemories + skills + forkProfiles + tasks + apiKeys + sessions + topologyNodes AS swept
FOREACH (_ IN CASE WHEN outcome = 'DONE' AND swept = 0 THEN [1] ELSE [] END | DETACH DELETE gone)
RETURN [{outcome: outcome}] AS rows
