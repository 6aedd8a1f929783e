// purpose: Makes a Space, unless there is one of that id or one is being deleted; answers the Space that is there then.
// access: write
// params: id, op, name, config, consolidateOn, integrateOn, everyNTurns
// returns: outcome, space.*
MERGE (d:DeleteLock {key: $id})
SET d.lock = $op
WITH d
OPTIONAL MATCH (gone:DeletedSpace {id: $id})
OPTIONAL MATCH (there:Space {id: $id})
WITH CASE
  WHEN gone IS NOT NULL THEN 'DELETED'
  WHEN there.madeBy = $op THEN 'DONE_BEFORE'
  WHEN there IS NOT NULL THEN 'TAKEN'
  ELSE 'DONE' END AS outcome
CALL (outcome) {
  WITH outcome WHERE outcome = 'DONE'
  WITH datetime.realtime() AS clock
  CREATE (:Space {id: $id, name: $name, config: $config, sharedMemory: false, revision: 0, nextRootIndex: 0, eventSeq: 0, settledSeq: 0,
    sessionCount: 0, consolidateOn: $consolidateOn, integrateOn: $integrateOn, everyNTurns: $everyNTurns, madeBy: $op,
    inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, llmCalls: 0,
    createdAt: clock.epochSeconds * 1000000 + clock.microsecond})
}
OPTIONAL MATCH (sp:Space {id: $id})
RETURN collect(CASE WHEN sp IS NULL THEN {outcome: outcome} ELSE sp {.*, outcome: outcome} END) AS rows
