// purpose: Makes a Space where it is missing.
// access: write
// params: id, name, config, consolidateOn, integrateOn, everyNTurns
// returns: space.*
WITH datetime.realtime() AS clock
MERGE (sp:Space {id: $id})
ON CREATE SET sp += {name: $name, config: $config, sharedMemory: false, revision: 0, nextRootIndex: 0, eventSeq: 0, sessionCount: 0,
  consolidateOn: $consolidateOn, integrateOn: $integrateOn, everyNTurns: $everyNTurns,
  inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, llmCalls: 0,
  createdAt: clock.epochSeconds * 1000000 + clock.microsecond}
MERGE (:DeleteLock {key: $id})
RETURN collect(sp {.*}) AS rows
