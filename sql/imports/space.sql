-- purpose: Gives a Space that nobody used, configured nor filled yet the name, settings, usage and age of an exported one.
-- access: write
-- params: id, op, name, strategy, sharedMemory, config, consolidateOn, integrateOn, everyNTurns, usage, createdAt
-- returns: outcome
-- unused: sharedMemory
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN sp.changedBy = :op THEN 'DONE_BEFORE'
    WHEN sp.revision > 0 OR sp.eventSeq > 0 OR sp.receipts <> '' THEN 'USED'
    ELSE 'DONE' END, clock.now
  FROM clock JOIN space AS sp ON sp.id = :id;
UPDATE space SET name = :name, strategy = :strategy, config = :config, consolidateOn = :consolidateOn, integrateOn = :integrateOn,
  everyNTurns = :everyNTurns, revision = revision + 1, changedBy = :op, createdAt = :createdAt,
  inputTokens = json_extract(:usage, '$.inputTokens'), outputTokens = json_extract(:usage, '$.outputTokens'),
  cacheReadTokens = json_extract(:usage, '$.cacheReadTokens'), cacheWriteTokens = json_extract(:usage, '$.cacheWriteTokens'),
  llmCalls = json_extract(:usage, '$.llmCalls')
WHERE id = :id AND (SELECT outcome FROM decision) = 'DONE';
SELECT outcome FROM decision;
