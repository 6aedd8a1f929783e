-- purpose: Creates a fork: session, node, edges to the inherited messages and messages of its own. The source is locked, then the parent, the Space last.
--   Where minTurns and cooldownTurns are given, the source's completed turns decide whether it may be forked.
-- access: write
-- params: space, key, id, op, eventKey, data, labelTerms, sourceKey, sourceId, parentKey, parentId, throughSeq, inherits, label, systemPrompt, skills, tags, metadata, overrides, messages, minTurns, cooldownTurns, usage, idempotencyKey, inputHash
-- returns: outcome, sourceTurns, sourceSplit, session.*
-- unused: op
-- json: tags
DELETE FROM decision;
INSERT INTO decision (outcome, now, seq, extra)
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM topology_event WHERE key = :eventKey) THEN 'DONE_BEFORE'
    WHEN i.op = 'fork' AND i.inputHash = :inputHash THEN 'JOINED'
    WHEN i.key IS NOT NULL THEN 'REUSED_KEY'
    WHEN EXISTS (SELECT 1 FROM session WHERE key = :key) THEN 'TAKEN'
    WHEN src.status = 'ARCHIVED' THEN 'ARCHIVED'
    WHEN src.turnCount < :minTurns OR src.turnCount - src.splitTurn < :cooldownTurns THEN 'TOO_EARLY'
    WHEN p.key IS NULL THEN 'NO_PARENT'
    WHEN p.status = 'ARCHIVED' THEN 'ARCHIVED_PARENT'
    WHEN :throughSeq IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM has_message WHERE sk = :sourceKey AND seq = :throughSeq) THEN 'NO_CUT'
    ELSE 'DONE' END, clock.now, p.nextIndex,
    CASE WHEN i.op = 'fork' AND i.inputHash = :inputHash THEN :space || '/' || i.resultId ELSE :key END
  FROM clock JOIN session AS src ON src.key = :sourceKey
    LEFT JOIN idempotency AS i ON i.key = :idempotencyKey
    LEFT JOIN topology_node AS p ON p.key = :parentKey;
INSERT INTO session (key, spaceId, id, rootId, label, role, status, strategy, systemPrompt, skills, tags, metadata,
    overrideModel, overrideConsolidatePrompt, overrideIntegratePrompt, overrideCompressPrompt, overrideRoleContext,
    messageCount, nextSeq, eventSeq, createdAt, updatedAt, lastActiveAt)
  SELECT :key, :space, :id, p.rootId, :label, 'STANDARD', 'ACTIVE', p.strategy, :systemPrompt, :skills, :tags, :metadata,
    json_extract(:overrides, '$.overrideModel'), json_extract(:overrides, '$.overrideConsolidatePrompt'),
    json_extract(:overrides, '$.overrideIntegratePrompt'), json_extract(:overrides, '$.overrideCompressPrompt'),
    json_extract(:overrides, '$.overrideRoleContext'),
    json_array_length(:messages) + (SELECT count(*) FROM has_message WHERE sk = :sourceKey AND seq <= :throughSeq AND :inherits),
    iif(:inherits, coalesce(:throughSeq, 0), 0) + 1 + json_array_length(:messages), sp.eventSeq + 1, d.now, d.now, d.now
  FROM decision AS d JOIN space AS sp ON sp.id = :space JOIN topology_node AS p ON p.key = :parentKey
  WHERE d.outcome = 'DONE';
INSERT INTO topology_node (key, spaceId, id, parentId, parentKey, rootId, label, status, role, strategy, depth, "index",
    sourceSessionId, sourceSeq, createdAt, lastActiveAt)
  SELECT :key, :space, :id, :parentId, :parentKey, p.rootId, :label, 'ACTIVE', 'STANDARD', p.strategy, p.depth + 1, d.seq,
    :sourceId, :throughSeq, d.now, d.now
  FROM decision AS d JOIN topology_node AS p ON p.key = :parentKey WHERE d.outcome = 'DONE';
INSERT INTO searchable (key, scope, terms)
  SELECT :key, 'LABEL', :labelTerms FROM decision WHERE outcome = 'DONE';
UPDATE session SET splitTurn = turnCount,
  inputTokens = inputTokens + json_extract(:usage, '$.inputTokens'),
  outputTokens = outputTokens + json_extract(:usage, '$.outputTokens'),
  cacheReadTokens = cacheReadTokens + json_extract(:usage, '$.cacheReadTokens'),
  cacheWriteTokens = cacheWriteTokens + json_extract(:usage, '$.cacheWriteTokens'),
  llmCalls = llmCalls + json_extract(:usage, '$.llmCalls')
  WHERE key = :sourceKey AND (SELECT outcome FROM decision) = 'DONE';
UPDATE topology_node SET nextIndex = nextIndex + 1, childCount = childCount + 1
  WHERE key = :parentKey AND (SELECT outcome FROM decision) = 'DONE';
INSERT INTO has_message (sk, seq, mk)
  SELECT :key, r.seq, r.mk FROM has_message AS r
  WHERE r.sk = :sourceKey AND r.seq <= :throughSeq AND :inherits AND (SELECT outcome FROM decision) = 'DONE';
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:messages))
INSERT INTO message (key, id, sessionId, role, content, parts, state, toolCalls, toolCallId, toolName, isError, model, createdAt)
  SELECT json_extract(v.value, '$.key'), json_extract(v.value, '$.id'), :id, json_extract(v.value, '$.role'),
    json_extract(v.value, '$.content'), json_extract(v.value, '$.parts'), json_extract(v.value, '$.state'),
    json_extract(v.value, '$.toolCalls'), json_extract(v.value, '$.toolCallId'), json_extract(v.value, '$.toolName'),
    json_extract(v.value, '$.isError'), json_extract(v.value, '$.model'), d.now
  FROM decision AS d, v WHERE d.outcome = 'DONE';
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:messages))
INSERT INTO searchable (key, scope, terms)
  SELECT json_extract(v.value, '$.key'), 'MESSAGE', json_extract(v.value, '$.terms')
  FROM decision AS d, v WHERE d.outcome = 'DONE' AND json_extract(v.value, '$.terms') <> '';
INSERT INTO has_message (sk, seq, mk)
  SELECT :key, iif(:inherits, coalesce(:throughSeq, 0), 0) + 1 + v.key, json_extract(v.value, '$.key')
  FROM decision AS d, json_each(:messages) AS v WHERE d.outcome = 'DONE';
INSERT INTO idempotency (key, sk, op, inputHash, resultId)
  SELECT :idempotencyKey, :key, 'fork', :inputHash, :id FROM decision
  WHERE outcome = 'DONE' AND :idempotencyKey IS NOT NULL;
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, 'SESSION_FORKED', :id, :data, d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE space SET eventSeq = eventSeq + 1, sessionCount = sessionCount + 1,
  inputTokens = inputTokens + json_extract(:usage, '$.inputTokens'),
  outputTokens = outputTokens + json_extract(:usage, '$.outputTokens'),
  cacheReadTokens = cacheReadTokens + json_extract(:usage, '$.cacheReadTokens'),
  cacheWriteTokens = cacheWriteTokens + json_extract(:usage, '$.cacheWriteTokens'),
  llmCalls = llmCalls + json_extract(:usage, '$.llmCalls')
  WHERE id = :space AND EXISTS (SELECT 1 FROM decision AS d WHERE d.outcome = 'DONE');
SELECT d.outcome, src.turnCount AS sourceTurns, src.splitTurn AS sourceSplit, s.*
FROM decision AS d JOIN session AS src ON src.key = :sourceKey LEFT JOIN session AS s ON s.key = d.extra;
