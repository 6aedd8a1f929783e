-- purpose: Stores a summary of the transcript up to a place, unless another stands by now or what it covers was trimmed;
--   the usage counts for session and Space. Where a turn stores it, only while that turn holds the session.
-- access: write
-- params: space, key, id, op, eventKey, data, turnKey, fence, extends, firstSeq, throughSeq, summary, tokens, usage
-- returns: outcome, turnId, session.*
-- unused: op
-- json: tags
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM topology_event WHERE key = :eventKey) THEN 'DONE_BEFORE'
    WHEN :turnKey IS NOT NULL AND NOT EXISTS (
      SELECT 1 FROM turn WHERE key = :turnKey AND status = 'RUNNING' AND fence = :fence) THEN 'LOST'
    WHEN :turnKey IS NULL AND s.status = 'ARCHIVED' THEN 'ARCHIVED'
    WHEN :turnKey IS NULL AND s.openTurnId IS NOT NULL THEN 'BUSY'
    WHEN coalesce(s.compressionThroughSeq, 0) <> :extends OR :firstSeq < s.nextSeq - s.messageCount
      OR :throughSeq >= s.nextSeq THEN 'CHANGED'
    ELSE 'DONE' END, clock.now
  FROM clock JOIN session AS s ON s.key = :key;
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, 'SESSION_UPDATED', :id, :data, d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE space SET eventSeq = eventSeq + 1,
  inputTokens = inputTokens + json_extract(:usage, '$.inputTokens'),
  outputTokens = outputTokens + json_extract(:usage, '$.outputTokens'),
  cacheReadTokens = cacheReadTokens + json_extract(:usage, '$.cacheReadTokens'),
  cacheWriteTokens = cacheWriteTokens + json_extract(:usage, '$.cacheWriteTokens'),
  llmCalls = llmCalls + json_extract(:usage, '$.llmCalls')
  WHERE id = :space AND EXISTS (SELECT 1 FROM decision AS d WHERE d.outcome = 'DONE');
UPDATE session SET compressionSummary = :summary, compressionThroughSeq = :throughSeq, compressionTokens = :tokens,
  compressionAt = (SELECT now FROM decision),
  inputTokens = inputTokens + json_extract(:usage, '$.inputTokens'),
  outputTokens = outputTokens + json_extract(:usage, '$.outputTokens'),
  cacheReadTokens = cacheReadTokens + json_extract(:usage, '$.cacheReadTokens'),
  cacheWriteTokens = cacheWriteTokens + json_extract(:usage, '$.cacheWriteTokens'),
  llmCalls = llmCalls + json_extract(:usage, '$.llmCalls'),
  updatedAt = (SELECT now FROM decision), eventSeq = (SELECT eventSeq FROM space WHERE id = :space)
WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
SELECT d.outcome, s.openTurnId AS turnId, s.* FROM decision AS d JOIN session AS s ON s.key = :key;
