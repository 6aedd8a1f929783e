// purpose: Stores a synthesis and the insights that go with it, by key of their sessions; of these, what is gone, archived or of another tree is left out.
// access: write
// params: space, key, id, op, eventKey, keys, synthesis, insights, throughSeq, revision, usage
// returns: outcome, told
UNWIND $keys AS key
MATCH (s:Session {key: key})
SET s.lock = $op
WITH s WHERE s.lock IS NOT NULL
WITH collect(s) AS sessions
UNWIND [s IN sessions WHERE s.key = $key] AS main
OPTIONAL MATCH (done:TopologyEvent {key: $eventKey})
WITH main, done, [s IN sessions WHERE s.key <> $key AND s.rootId = $id AND s.status = 'ACTIVE'] AS targets, CASE
  WHEN done IS NOT NULL THEN 'DONE_BEFORE'
  WHEN main.status = 'ARCHIVED' THEN 'ARCHIVED'
  WHEN coalesce(main.synthesisRevision, 0) <> $revision THEN 'CHANGED'
  ELSE 'DONE' END AS outcome
CALL (main, targets, outcome) {
  WITH main, targets, outcome WHERE outcome = 'DONE'
  MATCH (sp:Space {id: $space})
  SET sp.lock = $op
  WITH main, targets, sp, datetime.realtime() AS clock
  WITH main, targets, sp, clock.epochSeconds * 1000000 + clock.microsecond AS now, sp.eventSeq AS before
  SET main.synthesis = $synthesis, main.synthesisRevision = $revision + 1, main.integratedSeq = $throughSeq,
    main.inputTokens = main.inputTokens + $usage.inputTokens,
    main.outputTokens = main.outputTokens + $usage.outputTokens,
    main.cacheReadTokens = main.cacheReadTokens + $usage.cacheReadTokens,
    main.cacheWriteTokens = main.cacheWriteTokens + $usage.cacheWriteTokens,
    main.llmCalls = main.llmCalls + $usage.llmCalls,
    sp.inputTokens = sp.inputTokens + $usage.inputTokens,
    sp.outputTokens = sp.outputTokens + $usage.outputTokens,
    sp.cacheReadTokens = sp.cacheReadTokens + $usage.cacheReadTokens,
    sp.cacheWriteTokens = sp.cacheWriteTokens + $usage.cacheWriteTokens,
    sp.llmCalls = sp.llmCalls + $usage.llmCalls,
    main.updatedAt = now, main.eventSeq = before + 1, sp.settledSeq = before, sp.eventSeq = before + 1 + size(targets)
  CREATE (:TopologyEvent {key: $eventKey, spaceId: $space, seq: before + 1, type: 'SYNTHESIS_UPDATED', nodeId: $id,
    rootId: $id, data: '{}', ids: [s IN targets | s.id], at: now})
  WITH targets, now, before
  UNWIND range(0, size(targets) - 1) AS place
  WITH now, targets[place] AS s, before + 2 + place AS seq
  SET s.insight = $insights[s.key].content, s.insightSource = $id, s.insightAt = now, s.insightRevision = s.insightRevision + 1,
    s.updatedAt = now, s.eventSeq = seq
  CREATE (:TopologyEvent {key: $insights[s.key].eventKey, spaceId: $space, seq: seq, type: 'INSIGHT_PUT', nodeId: s.id,
    rootId: $id, data: $insights[s.key].data, at: now})
}
RETURN collect({outcome: outcome, told: coalesce(done.ids, [s IN targets | s.id])}) AS rows
