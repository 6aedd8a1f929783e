-- purpose: What a fork needs to know: its source, the Space, the messages around the cut, the profile, and what came of its idempotency key before.
-- access: read
-- params: space, key, throughSeq, profileKey, idempotencyKey
-- returns: session, space, tail, profile, known
-- json: session, space, tail, profile, known
SELECT
  json_object('id', s.id, 'label', s.label, 'role', s.role, 'status', s.status, 'strategy', s.strategy,
    'systemPrompt', s.systemPrompt, 'skills', s.skills, 'tags', json(s.tags), 'metadata', s.metadata, 'rootId', s.rootId,
    'memory', s.memory, 'memoryRevision', s.memoryRevision, 'insight', s.insight, 'insightSource', s.insightSource,
    'insightAt', s.insightAt, 'insightRevision', s.insightRevision, 'synthesis', s.synthesis, 'rollup', s.rollup,
    'compressionSummary', s.compressionSummary, 'compressionThroughSeq', s.compressionThroughSeq,
    'compressionTokens', s.compressionTokens, 'compressionAt', s.compressionAt,
    'turnCount', s.turnCount, 'splitTurn', s.splitTurn, 'messageCount', s.messageCount, 'nextSeq', s.nextSeq, 'openTurnId', s.openTurnId,
    'eventSeq', s.eventSeq, 'inputTokens', s.inputTokens, 'outputTokens', s.outputTokens,
    'cacheReadTokens', s.cacheReadTokens, 'cacheWriteTokens', s.cacheWriteTokens, 'llmCalls', s.llmCalls,
    'overrideModel', s.overrideModel, 'overrideConsolidatePrompt', s.overrideConsolidatePrompt,
    'overrideIntegratePrompt', s.overrideIntegratePrompt, 'overrideCompressPrompt', s.overrideCompressPrompt,
    'overrideRoleContext', s.overrideRoleContext,
    'createdAt', s.createdAt, 'updatedAt', s.updatedAt, 'lastActiveAt', s.lastActiveAt) AS session,
  json_object('id', sp.id, 'name', sp.name, 'config', sp.config, 'strategy', sp.strategy, 'revision', sp.revision,
    'eventSeq', sp.eventSeq, 'sessionCount', sp.sessionCount, 'createdAt', sp.createdAt,
    'inputTokens', sp.inputTokens, 'outputTokens', sp.outputTokens,
    'cacheReadTokens', sp.cacheReadTokens, 'cacheWriteTokens', sp.cacheWriteTokens, 'llmCalls', sp.llmCalls) AS space,
  (SELECT json_group_array(json_array(m.id, m.sessionId, m.role, m.content, m.parts, m.state, m.toolCalls, m.toolCallId,
      m.toolName, m.isError, m.durationMs, m.model, m.usage, m.turnId, m.createdAt, r.seq))
    FROM has_message AS r JOIN message AS m ON m.key = r.mk
    WHERE r.sk = :key AND r.seq >= coalesce(:throughSeq, s.nextSeq - 1)
      AND r.seq < coalesce(:throughSeq, s.nextSeq - 1) + 2) AS tail,
  (SELECT json_object('id', f.id, 'systemPrompt', f.systemPrompt, 'systemPromptMode', f.systemPromptMode,
      'skills', f.skills, 'context', f.context, 'prompt', f.prompt)
    FROM fork_profile AS f WHERE f.key = :profileKey) AS profile,
  (SELECT json_object('op', i.op, 'inputHash', i.inputHash, 'resultId', i.resultId)
    FROM idempotency AS i WHERE i.key = :idempotencyKey) AS known
FROM session AS s JOIN space AS sp ON sp.id = :space WHERE s.key = :key;
