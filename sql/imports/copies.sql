-- purpose: Creates sessions as an export has them, all or none: transcripts, turns and links with them, as roots or as children of
--   nodes that are there. They keep their places among each other, after the siblings that are there. The delete-lock comes first.
--   RACE: the index does not show all messages that are to be shared.
-- access: write
-- params: space, op, eventKey, keys, parents, roots, nodes, shared, sessions, transcripts, refs
-- returns: outcome
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM topology_event WHERE key = :eventKey) THEN 'DONE_BEFORE'
    WHEN EXISTS (SELECT 1 FROM json_each(:keys) AS v JOIN session AS s ON s.key = v.value) THEN 'TAKEN'
    WHEN EXISTS (SELECT 1 FROM json_each(:nodes) AS v LEFT JOIN topology_node AS n ON n.key = v.value WHERE n.key IS NULL) THEN 'GONE'
    WHEN EXISTS (SELECT 1 FROM json_each(:shared) AS v LEFT JOIN message AS m ON m.key = v.value WHERE m.key IS NULL) THEN 'RACE'
    ELSE 'DONE' END, clock.now
  FROM clock JOIN space AS sp ON sp.id = :space;
-- MATERIALIZED, since json_each makes the text of a value anew wherever it is named.
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:sessions))
INSERT INTO session (key, spaceId, rootId, strategy, eventSeq, memorySeq,
    id, label, role, status, systemPrompt, skills, tags, metadata, memory, memoryRevision, memoryThroughSeq, insight,
    insightSource, insightAt, insightRevision, synthesis, synthesisRevision, rollup, compressionSummary,
    compressionThroughSeq, compressionTokens, compressionAt, overrideModel, overrideConsolidatePrompt,
    overrideIntegratePrompt, overrideCompressPrompt, overrideRoleContext, turnCount, messageCount, nextSeq, lastTurnNumber,
    splitTurn, inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, llmCalls, createdAt, updatedAt, lastActiveAt)
  SELECT json_extract(v.value, '$.key'), :space, coalesce(p.rootId, json_extract(v.value, '$.session.id')),
    coalesce(p.strategy, json_extract(v.value, '$.session.strategy')), sp.eventSeq + 1 + v.key,
    CASE WHEN json_extract(v.value, '$.session.memory') IS NULL THEN NULL ELSE sp.eventSeq + 1 + v.key END,
    json_extract(v.value, '$.session.id'), json_extract(v.value, '$.session.label'), json_extract(v.value, '$.session.role'),
    json_extract(v.value, '$.session.status'), json_extract(v.value, '$.session.systemPrompt'), json_extract(v.value,
    '$.session.skills'), json_extract(v.value, '$.session.tags'), json_extract(v.value, '$.session.metadata'),
    json_extract(v.value, '$.session.memory'), json_extract(v.value, '$.session.memoryRevision'), json_extract(v.value,
    '$.session.memoryThroughSeq'), json_extract(v.value, '$.session.insight'), json_extract(v.value,
    '$.session.insightSource'), json_extract(v.value, '$.session.insightAt'), json_extract(v.value,
    '$.session.insightRevision'), json_extract(v.value, '$.session.synthesis'), json_extract(v.value,
    '$.session.synthesisRevision'), json_extract(v.value, '$.session.rollup'), json_extract(v.value,
    '$.session.compressionSummary'), json_extract(v.value, '$.session.compressionThroughSeq'), json_extract(v.value,
    '$.session.compressionTokens'), json_extract(v.value, '$.session.compressionAt'), json_extract(v.value,
    '$.session.overrideModel'), json_extract(v.value, '$.session.overrideConsolidatePrompt'), json_extract(v.value,
    '$.session.overrideIntegratePrompt'), json_extract(v.value, '$.session.overrideCompressPrompt'), json_extract(v.value,
    '$.session.overrideRoleContext'), json_extract(v.value, '$.session.turnCount'), json_extract(v.value,
    '$.session.messageCount'), json_extract(v.value, '$.session.nextSeq'), json_extract(v.value, '$.session.lastTurnNumber'),
    json_extract(v.value, '$.session.splitTurn'), json_extract(v.value, '$.session.inputTokens'), json_extract(v.value,
    '$.session.outputTokens'), json_extract(v.value, '$.session.cacheReadTokens'), json_extract(v.value,
    '$.session.cacheWriteTokens'), json_extract(v.value, '$.session.llmCalls'), json_extract(v.value, '$.session.createdAt'),
    json_extract(v.value, '$.session.updatedAt'), json_extract(v.value, '$.session.lastActiveAt')
  FROM decision AS d JOIN space AS sp ON sp.id = :space JOIN v
    LEFT JOIN topology_node AS p ON p.key = json_extract(v.value, '$.parentKey')
  WHERE d.outcome = 'DONE';
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:sessions))
INSERT INTO topology_node (key, spaceId, id, parentId, parentKey, rootId, label, status, role, strategy, depth, "index",
    turnCount, sourceSessionId, sourceSeq, createdAt, lastActiveAt)
  SELECT s.key, :space, s.id, p.id, coalesce(p.key, :space), s.rootId, s.label, s.status, s.role, s.strategy,
    coalesce(p.depth + 1, 0), json_extract(v.value, '$.index')
      + max(coalesce(p.nextIndex, sp.nextRootIndex) - json_extract(v.value, '$.first'), 0),
    s.turnCount, json_extract(v.value, '$.sourceSessionId'), json_extract(v.value, '$.sourceSeq'), s.createdAt, s.lastActiveAt
  FROM decision AS d JOIN space AS sp ON sp.id = :space JOIN v
    JOIN session AS s ON s.key = json_extract(v.value, '$.key')
    LEFT JOIN topology_node AS p ON p.key = json_extract(v.value, '$.parentKey')
  WHERE d.outcome = 'DONE';
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:parents))
UPDATE topology_node SET childCount = childCount + json_extract(v.value, '$.children'),
  nextIndex = json_extract(v.value, '$.last') + 1 + max(nextIndex - json_extract(v.value, '$.first'), 0)
  FROM decision AS d, v
  WHERE d.outcome = 'DONE' AND topology_node.key = json_extract(v.value, '$.key');
-- A transcript is large: its key is taken out of it once, not again for each message and turn; and so is each value of a message.
WITH t AS MATERIALIZED (
    SELECT json_extract(value, '$.key') AS key, json_extract(value, '$.places') AS places FROM json_each(:transcripts)),
  r AS MATERIALIZED (
    SELECT t.key AS sk, one.value FROM decision AS d, t, json_each(t.places) AS one WHERE d.outcome = 'DONE')
INSERT INTO incoming
  SELECT sk, json_extract(r.value, '$.seq'), json_extract(r.value, '$.key'),
    json_extract(r.value, '$.message.id'), json_extract(r.value, '$.message.sessionId'),
    json_extract(r.value, '$.message.role'), json_extract(r.value, '$.message.content'),
    json_extract(r.value, '$.message.parts'), json_extract(r.value, '$.message.state'),
    json_extract(r.value, '$.message.toolCalls'), json_extract(r.value, '$.message.toolCallId'),
    json_extract(r.value, '$.message.toolName'), json_extract(r.value, '$.message.isError'),
    json_extract(r.value, '$.message.durationMs'), json_extract(r.value, '$.message.model'),
    json_extract(r.value, '$.message.usage'), json_extract(r.value, '$.message.turnId'),
    json_extract(r.value, '$.message.createdAt'), json_extract(r.value, '$.message.terms')
  FROM r;
INSERT INTO message (key, id, sessionId, role, content, parts, state, toolCalls, toolCallId, toolName, isError, durationMs, model,
    usage, turnId, createdAt)
  SELECT key, id, sessionId, role, content, parts, state, toolCalls, toolCallId, toolName, isError, durationMs, model,
    usage, turnId, createdAt
  FROM incoming WHERE id IS NOT NULL
  ON CONFLICT DO NOTHING;
INSERT INTO has_message (sk, seq, mk) SELECT sk, seq, key FROM incoming;
-- All in one statement: the full-text index writes a segment for each.
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:sessions))
INSERT INTO searchable (key, scope, terms)
  SELECT json_extract(v.value, '$.key'), 'LABEL', json_extract(v.value, '$.session.labelTerms')
  FROM decision AS d, v WHERE d.outcome = 'DONE'
  UNION ALL SELECT json_extract(v.value, '$.key'), 'MEMORY', json_extract(v.value, '$.session.memoryTerms')
  FROM decision AS d, v WHERE d.outcome = 'DONE' AND json_extract(v.value, '$.session.memory') IS NOT NULL
  UNION ALL SELECT key, 'MESSAGE', terms FROM incoming WHERE terms <> ''
  ON CONFLICT DO NOTHING;
DELETE FROM incoming;
WITH v AS MATERIALIZED (
    SELECT json_extract(value, '$.key') AS key, json_extract(value, '$.turns') AS turns FROM json_each(:transcripts)),
  t AS MATERIALIZED (
    SELECT v.key AS sk, one.value FROM decision AS d, v, json_each(v.turns) AS one WHERE d.outcome = 'DONE')
INSERT INTO turn (spaceId, sk, sessionId, endedBy, key, id, number, status, stopReason, toolRounds, maxToolRounds, confirmIds, approvedIds, refusedIds, refusals, usage, error, firstSeq, lastSeq, fence, insight, startedAt, endedAt)
  SELECT :space, sk, json_extract(t.value, '$.sessionId'), :op,
    json_extract(t.value, '$.key'), json_extract(t.value, '$.id'), json_extract(t.value, '$.number'), json_extract(t.value,
    '$.status'), json_extract(t.value, '$.stopReason'), json_extract(t.value, '$.toolRounds'), json_extract(t.value,
    '$.maxToolRounds'), json_extract(t.value, '$.confirmIds'), json_extract(t.value, '$.approvedIds'), json_extract(t.value,
    '$.refusedIds'), json_extract(t.value, '$.refusals'), json_extract(t.value, '$.usage'), json_extract(t.value, '$.error'),
    json_extract(t.value, '$.firstSeq'), json_extract(t.value, '$.lastSeq'), json_extract(t.value, '$.fence'),
    json_extract(t.value, '$.insight'), json_extract(t.value, '$.startedAt'), json_extract(t.value, '$.endedAt')
  FROM t;
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:refs))
INSERT INTO ref (fromKey, toKey, seq, at)
  SELECT json_extract(v.value, '$.fromKey'), json_extract(v.value, '$.toKey'), json_extract(v.value, '$.seq'), json_extract(v.value, '$.at')
  FROM decision AS d, v WHERE d.outcome = 'DONE';
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:sessions))
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT json_extract(v.value, '$.eventKey'), :space, sp.eventSeq + 1 + v.key, json_extract(v.value, '$.type'),
    json_extract(v.value, '$.session.id'), json_extract(v.value, '$.data'), d.now
  FROM decision AS d, space AS sp, v WHERE sp.id = :space AND d.outcome = 'DONE';
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:refs))
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT json_extract(v.value, '$.eventKey'), :space, sp.eventSeq + json_array_length(:sessions) + 1 + v.key, 'REF_ADDED',
    json_extract(v.value, '$.fromId'), json_extract(v.value, '$.data'), d.now
  FROM decision AS d, space AS sp, v WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE space SET eventSeq = eventSeq + json_array_length(:sessions) + json_array_length(:refs),
  sessionCount = sessionCount + json_array_length(:sessions),
  nextRootIndex = json_extract(:roots, '$.last') + 1 + max(nextRootIndex - json_extract(:roots, '$.first'), 0)
  WHERE id = :space AND (SELECT outcome FROM decision) = 'DONE';
SELECT outcome FROM decision;
