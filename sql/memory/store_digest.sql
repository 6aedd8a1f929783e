-- purpose: Stores what consolidating gave, unless the digest was changed meanwhile; the usage counts for session and Space.
-- access: write
-- params: space, key, id, op, eventKey, data, content, terms, revision, throughSeq, evenArchived, usage
-- returns: outcome, due, session.*
-- json: tags
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM topology_event WHERE key = :eventKey) THEN 'DONE_BEFORE'
    WHEN s.status = 'ARCHIVED' AND NOT :evenArchived THEN 'ARCHIVED'
    WHEN s.memoryRevision <> :revision THEN 'CHANGED'
    ELSE 'DONE' END, clock.now
  FROM clock JOIN session AS s ON s.key = :key;
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, 'MEMORY_UPDATED', :id, :data, d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE space SET eventSeq = eventSeq + 1,
  inputTokens = inputTokens + json_extract(:usage, '$.inputTokens'),
  outputTokens = outputTokens + json_extract(:usage, '$.outputTokens'),
  cacheReadTokens = cacheReadTokens + json_extract(:usage, '$.cacheReadTokens'),
  cacheWriteTokens = cacheWriteTokens + json_extract(:usage, '$.cacheWriteTokens'),
  llmCalls = llmCalls + json_extract(:usage, '$.llmCalls')
  WHERE id = :space AND EXISTS (SELECT 1 FROM decision AS d WHERE d.outcome = 'DONE');
UPDATE session SET memory = :content, memoryRevision = memoryRevision + 1, memoryThroughSeq = :throughSeq,
  memorySeq = CASE WHEN memory = :content THEN memorySeq ELSE (SELECT eventSeq FROM space WHERE id = :space) END,
  inputTokens = inputTokens + json_extract(:usage, '$.inputTokens'),
  outputTokens = outputTokens + json_extract(:usage, '$.outputTokens'),
  cacheReadTokens = cacheReadTokens + json_extract(:usage, '$.cacheReadTokens'),
  cacheWriteTokens = cacheWriteTokens + json_extract(:usage, '$.cacheWriteTokens'),
  llmCalls = llmCalls + json_extract(:usage, '$.llmCalls'),
  updatedAt = (SELECT now FROM decision), eventSeq = (SELECT eventSeq FROM space WHERE id = :space)
WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
INSERT INTO searchable (key, scope, terms)
  SELECT :key, 'MEMORY', :terms FROM decision WHERE outcome = 'DONE'
  ON CONFLICT (key, scope) DO UPDATE SET terms = excluded.terms;
INSERT INTO task (key, spaceId, sk, sessionId, kind, requested, dueAt)
  SELECT r.spaceId || '/' || r.kind || ':' || r.sessionId, r.spaceId, r.sk, r.sessionId, r.kind, :op, d.now
  FROM decision AS d JOIN task_trigger AS r ON r.raisedBy = :key
  WHERE d.outcome = 'DONE' AND r."trigger" = 'AFTER_CONSOLIDATE' AND r.sessionId <> :id
  ON CONFLICT (key) DO UPDATE SET requested = excluded.requested, dueAt = coalesce(dueAt, excluded.dueAt);
SELECT d.outcome, (SELECT count(*) FROM task AS k WHERE k.requested = :op
    AND k.key IN (s.spaceId || '/CONSOLIDATE:' || s.id, s.spaceId || '/INTEGRATE:' || s.rootId)) AS due, s.* FROM decision AS d JOIN session AS s ON s.key = :key;
