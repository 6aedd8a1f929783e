-- purpose: Stores a synthesis and the insights that go with it, by key of their sessions; of these, what is gone, archived or of another tree is left out.
-- access: write
-- params: space, key, id, op, eventKey, keys, synthesis, insights, throughSeq, revision, usage
-- returns: outcome, told
-- unused: op, keys
-- json: told
DELETE FROM decision;
INSERT INTO decision (outcome, now, extra)
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM topology_event WHERE key = :eventKey) THEN 'DONE_BEFORE'
    WHEN main.status = 'ARCHIVED' THEN 'ARCHIVED'
    WHEN main.synthesisRevision <> :revision THEN 'CHANGED'
    ELSE 'DONE' END, clock.now,
    (SELECT json_group_array(s.id) FROM (SELECT key FROM json_each(:insights) ORDER BY key) AS v
      JOIN session AS s ON s.key = v.key WHERE s.rootId = :id AND s.status = 'ACTIVE' AND s.key <> :key)
  FROM clock JOIN session AS main ON main.key = :key;
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, 'SYNTHESIS_UPDATED', :id, '{}', d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space AND d.outcome = 'DONE';
WITH told AS (SELECT key AS place, value AS id, :space || '/' || value AS key FROM json_each((SELECT extra FROM decision))),
  given AS MATERIALIZED (SELECT key, value FROM json_each(:insights))
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT json_extract(v.value, '$.eventKey'), :space, sp.eventSeq + 2 + told.place, 'INSIGHT_PUT', told.id, json_extract(v.value, '$.data'), d.now
  FROM decision AS d JOIN space AS sp ON sp.id = :space JOIN told CROSS JOIN given AS v ON v.key = told.key
  WHERE d.outcome = 'DONE';
WITH told AS (SELECT key AS place, :space || '/' || value AS key FROM json_each((SELECT extra FROM decision))),
  given AS MATERIALIZED (SELECT key, value FROM json_each(:insights))
UPDATE session SET insight = json_extract(v.value, '$.content'), insightSource = :id, insightAt = d.now,
  insightRevision = insightRevision + 1, updatedAt = d.now, eventSeq = sp.eventSeq + 2 + told.place
FROM decision AS d, space AS sp, told CROSS JOIN given AS v ON v.key = told.key
WHERE d.outcome = 'DONE' AND sp.id = :space AND session.key = told.key;
UPDATE session SET synthesis = :synthesis, synthesisRevision = :revision + 1, integratedSeq = :throughSeq,
  inputTokens = inputTokens + json_extract(:usage, '$.inputTokens'),
  outputTokens = outputTokens + json_extract(:usage, '$.outputTokens'),
  cacheReadTokens = cacheReadTokens + json_extract(:usage, '$.cacheReadTokens'),
  cacheWriteTokens = cacheWriteTokens + json_extract(:usage, '$.cacheWriteTokens'),
  llmCalls = llmCalls + json_extract(:usage, '$.llmCalls'),
  updatedAt = (SELECT now FROM decision), eventSeq = (SELECT eventSeq + 1 FROM space WHERE id = :space)
WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
UPDATE space SET eventSeq = eventSeq + 1 + (SELECT json_array_length(extra) FROM decision),
  inputTokens = inputTokens + json_extract(:usage, '$.inputTokens'),
  outputTokens = outputTokens + json_extract(:usage, '$.outputTokens'),
  cacheReadTokens = cacheReadTokens + json_extract(:usage, '$.cacheReadTokens'),
  cacheWriteTokens = cacheWriteTokens + json_extract(:usage, '$.cacheWriteTokens'),
  llmCalls = llmCalls + json_extract(:usage, '$.llmCalls')
  WHERE id = :space AND (SELECT outcome FROM decision) = 'DONE';
SELECT outcome, extra AS told FROM decision;
