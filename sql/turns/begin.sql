-- purpose: Begins a turn: takes the session's lease, stores the user message, pins the insight. Answers all that compiling needs.
-- access: write
-- params: space, key, id, turnKey, turnId, message, lease, maxToolRounds, idempotencyKey, inputHash
-- returns: outcome, turn, conversation
-- json: turn, conversation
DELETE FROM decision;
INSERT INTO decision (outcome, now, seq, extra)
  SELECT CASE
    WHEN own.key IS NOT NULL THEN 'BEGUN'
    WHEN i.op = 'send' AND i.inputHash = :inputHash THEN 'JOINED'
    WHEN i.key IS NOT NULL THEN 'REUSED_KEY'
    WHEN s.status = 'ARCHIVED' THEN 'ARCHIVED'
    WHEN open.key IS NULL THEN 'BEGUN'
    WHEN open.leaseUntil <= clock.now THEN 'EXPIRED'
    ELSE 'BUSY' END, clock.now,
    CASE WHEN own.key IS NULL AND i.key IS NULL AND s.status = 'ACTIVE' AND open.key IS NULL THEN s.nextSeq END,
    CASE
      WHEN own.key IS NOT NULL THEN :turnKey
      WHEN i.op = 'send' AND i.inputHash = :inputHash THEN :space || '/' || i.resultId
      ELSE coalesce(open.key, :turnKey) END
  FROM clock JOIN session AS s ON s.key = :key
    LEFT JOIN turn AS own ON own.key = :turnKey
    LEFT JOIN idempotency AS i ON i.key = :idempotencyKey
    LEFT JOIN turn AS open ON open.key = :space || '/' || s.openTurnId;
INSERT INTO turn (key, spaceId, id, sk, sessionId, number, status, firstSeq, lastSeq, fence, leaseUntil, insightRevision, insight, maxToolRounds, startedAt)
  SELECT :turnKey, :space, :turnId, :key, :id, s.lastTurnNumber + 1, 'RUNNING', d.seq, d.seq, 1, d.now + :lease,
    CASE WHEN s.insight IS NOT NULL THEN s.insightRevision END, s.insight, :maxToolRounds, d.now
  FROM decision AS d JOIN session AS s ON s.key = :key WHERE d.seq IS NOT NULL;
INSERT INTO message (key, id, sessionId, role, content, state, isError, turnId, createdAt)
  SELECT json_extract(:message, '$.key'), json_extract(:message, '$.id'), :id, 'USER',
    json_extract(:message, '$.content'), 'COMPLETE', 0, :turnId, d.now
  FROM decision AS d WHERE d.seq IS NOT NULL;
INSERT INTO searchable (key, scope, terms)
  SELECT json_extract(:message, '$.key'), 'MESSAGE', json_extract(:message, '$.terms')
  FROM decision AS d WHERE d.seq IS NOT NULL AND json_extract(:message, '$.terms') <> '';
INSERT INTO has_message (sk, seq, mk)
  SELECT :key, d.seq, json_extract(:message, '$.key') FROM decision AS d WHERE d.seq IS NOT NULL;
UPDATE session SET openTurnId = :turnId, lastTurnNumber = lastTurnNumber + 1, nextSeq = nextSeq + 1,
  messageCount = messageCount + 1
WHERE key = :key AND (SELECT seq FROM decision) IS NOT NULL;
INSERT INTO idempotency (key, sk, op, inputHash, resultId)
  SELECT :idempotencyKey, :key, 'send', :inputHash, :turnId FROM decision
  WHERE seq IS NOT NULL AND :idempotencyKey IS NOT NULL;
SELECT d.outcome,
  (SELECT document FROM turn_document WHERE key = d.extra) AS turn,
  CASE d.outcome WHEN 'BEGUN' THEN json_object('id', s.id, 'rootId', s.rootId, 'label', s.label, 'role', s.role,
    'status', s.status, 'strategy', s.strategy, 'systemPrompt', s.systemPrompt, 'skills', s.skills, 'tags', json(s.tags),
    'metadata', s.metadata, 'memory', s.memory, 'memoryRevision', s.memoryRevision, 'insight', s.insight,
    'insightSource', s.insightSource, 'insightAt', s.insightAt, 'insightRevision', s.insightRevision,
    'synthesis', s.synthesis, 'rollup', s.rollup, 'compressionSummary', s.compressionSummary,
    'compressionThroughSeq', s.compressionThroughSeq, 'compressionTokens', s.compressionTokens,
    'compressionAt', s.compressionAt, 'overrideModel', s.overrideModel,
    'overrideConsolidatePrompt', s.overrideConsolidatePrompt, 'overrideIntegratePrompt', s.overrideIntegratePrompt,
    'overrideCompressPrompt', s.overrideCompressPrompt, 'overrideRoleContext', s.overrideRoleContext,
    'turnCount', s.turnCount, 'messageCount', s.messageCount, 'nextSeq', s.nextSeq, 'openTurnId', s.openTurnId,
    'inputTokens', s.inputTokens, 'outputTokens', s.outputTokens,
    'cacheReadTokens', s.cacheReadTokens, 'cacheWriteTokens', s.cacheWriteTokens, 'llmCalls', s.llmCalls,
    'eventSeq', s.eventSeq, 'createdAt', s.createdAt, 'updatedAt', s.updatedAt, 'lastActiveAt', s.lastActiveAt,
    'space', (SELECT json_object('id', sp.id, 'name', sp.name, 'config', sp.config, 'strategy', sp.strategy,
      'createdAt', sp.createdAt) FROM space AS sp WHERE sp.id = :space),
    'transcript', (SELECT json_group_array(json_array(id, sessionId, role, content, parts, state, toolCalls, toolCallId,
        toolName, isError, durationMs, model, usage, turnId, createdAt, seq))
      FROM (SELECT r.seq, m.* FROM has_message AS r JOIN message AS m ON m.key = r.mk
        WHERE r.sk = :key AND r.seq > coalesce(s.compressionThroughSeq, 0)
          AND r.seq <= (SELECT firstSeq FROM turn WHERE key = d.extra) ORDER BY r.seq)),
    'sharedMemories', (SELECT json_group_array(json_object('id', id, 'summary', summary, 'updatedAt', updatedAt))
      FROM (SELECT n.id, n.summary, n.updatedAt FROM shared_memory AS n JOIN space AS sp ON sp.id = n.spaceId
        WHERE n.spaceId = :space AND json_extract(sp.config, '$.sharedMemory') ORDER BY n.place)),
    'storedSkills', (SELECT json_group_array(json_object('id', id, 'description', description))
      FROM (SELECT n.id, n.description FROM skill AS n WHERE n.spaceId = :space ORDER BY n.place))) END AS conversation
FROM decision AS d JOIN session AS s ON s.key = :key;
