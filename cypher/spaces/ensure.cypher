// purpose: Makes a Space where it is missing.
// access: write
// params: id, name, config
// returns: space.*
MERGE (sp:Space {id: $id})
WITH sp, datetime.realtime() AS clock
FOREACH (_ IN CASE WHEN sp.createdAt IS NULL THEN [1] ELSE [] END |
  SET sp += {name: $name, config: $config, revision: 0, nextRootIndex: 0, eventSeq: 0, sessionCount: 0, inputTokens: 0,
    outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, llmCalls: 0,
    createdAt: clock.epochSeconds * 1000000 + clock.microsecond}
  MERGE (:DeleteLock {key: $id})
)
RETURN collect(sp {.*}) AS rows
