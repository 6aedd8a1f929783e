-- purpose: Counts for session and Space what a model took whose work is not stored.
-- access: write
-- params: space, key, op, receiptKey, usage
-- returns: outcome
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE WHEN EXISTS (SELECT 1 FROM idempotency WHERE key = :receiptKey) THEN 'DONE_BEFORE' ELSE 'DONE' END, clock.now
  FROM clock JOIN session AS s ON s.key = :key;
UPDATE space SET inputTokens = inputTokens + json_extract(:usage, '$.inputTokens'),
  outputTokens = outputTokens + json_extract(:usage, '$.outputTokens'),
  cacheReadTokens = cacheReadTokens + json_extract(:usage, '$.cacheReadTokens'),
  cacheWriteTokens = cacheWriteTokens + json_extract(:usage, '$.cacheWriteTokens'),
  llmCalls = llmCalls + json_extract(:usage, '$.llmCalls')
  WHERE id = :space AND (SELECT outcome FROM decision) = 'DONE';
UPDATE session SET inputTokens = inputTokens + json_extract(:usage, '$.inputTokens'),
  outputTokens = outputTokens + json_extract(:usage, '$.outputTokens'),
  cacheReadTokens = cacheReadTokens + json_extract(:usage, '$.cacheReadTokens'),
  cacheWriteTokens = cacheWriteTokens + json_extract(:usage, '$.cacheWriteTokens'),
  llmCalls = llmCalls + json_extract(:usage, '$.llmCalls')
  WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
INSERT INTO idempotency (key, sk, op, inputHash, resultId)
  SELECT :receiptKey, :key, 'usage', '', :op FROM decision WHERE outcome = 'DONE';
SELECT outcome FROM decision;
