-- purpose: Ends a turn with its last messages, or closes one whose lease ran out: status, usage, counters, insight, lease, events.
-- access: write
-- params: space, key, id, turnKey, op, fence, closing, lastSeq, status, stopReason, error, toolRounds, messages, usage, callUsage, completed, consumedKey, eventKey, data
-- returns: outcome, turn, messages, due
-- json: turn
DELETE FROM decision;
INSERT INTO decision (outcome, now, seq, extra)
  SELECT CASE
    WHEN t.endedBy = :op THEN 'DONE_BEFORE'
    WHEN t.endedBy IS NOT NULL THEN 'ENDED'
    WHEN t.fence <> :fence THEN 'LOST'
    WHEN :closing AND (t.leaseUntil IS NULL OR t.leaseUntil > clock.now OR t.lastSeq <> :lastSeq) THEN 'ALIVE'
    ELSE 'DONE' END, clock.now, s.nextSeq,
    CASE WHEN t.endedBy IS NULL AND :completed AND s.insight IS NOT NULL AND s.insightRevision = t.insightRevision
      THEN 'CONSUMED' END
  FROM clock JOIN session AS s ON s.key = :key JOIN turn AS t ON t.key = :turnKey;
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:messages))
INSERT INTO message (key, id, sessionId, role, content, parts, state, toolCalls, toolCallId, toolName, isError, durationMs, model, usage, turnId, createdAt)
  SELECT json_extract(v.value, '$.key'), json_extract(v.value, '$.id'), json_extract(v.value, '$.sessionId'),
    json_extract(v.value, '$.role'), json_extract(v.value, '$.content'), json_extract(v.value, '$.parts'),
    json_extract(v.value, '$.state'), json_extract(v.value, '$.toolCalls'), json_extract(v.value, '$.toolCallId'),
    json_extract(v.value, '$.toolName'), json_extract(v.value, '$.isError'), json_extract(v.value, '$.durationMs'), json_extract(v.value, '$.model'),
    json_extract(v.value, '$.usage'), json_extract(v.value, '$.turnId'),
    coalesce(json_extract(v.value, '$.createdAt'), d.now)
  FROM decision AS d, v WHERE d.outcome = 'DONE';
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:messages))
INSERT INTO searchable (key, scope, terms)
  SELECT json_extract(v.value, '$.key'), 'MESSAGE', json_extract(v.value, '$.terms')
  FROM decision AS d, v WHERE d.outcome = 'DONE' AND json_extract(v.value, '$.terms') <> '';
INSERT INTO has_message (sk, seq, mk)
  SELECT :key, d.seq + v.key, json_extract(v.value, '$.key')
  FROM decision AS d, json_each(:messages) AS v WHERE d.outcome = 'DONE';
UPDATE session SET nextSeq = nextSeq + json_array_length(:messages),
  messageCount = messageCount + json_array_length(:messages), turnCount = turnCount + (:completed <> 0),
  lastActiveAt = (SELECT now FROM decision), openTurnId = NULL,
  inputTokens = inputTokens + json_extract(:callUsage, '$.inputTokens'),
  outputTokens = outputTokens + json_extract(:callUsage, '$.outputTokens'),
  cacheReadTokens = cacheReadTokens + json_extract(:callUsage, '$.cacheReadTokens'),
  cacheWriteTokens = cacheWriteTokens + json_extract(:callUsage, '$.cacheWriteTokens'),
  llmCalls = llmCalls + json_extract(:callUsage, '$.llmCalls')
WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
UPDATE turn SET status = :status, stopReason = :stopReason, error = :error, toolRounds = :toolRounds, usage = :usage,
  lastSeq = (SELECT nextSeq - 1 FROM session WHERE key = :key), endedAt = (SELECT now FROM decision), endedBy = :op,
  leaseUntil = NULL, partial = ''
WHERE key = :turnKey AND (SELECT outcome FROM decision) = 'DONE';
UPDATE session SET insight = NULL, insightSource = NULL, insightAt = NULL,
  eventSeq = (SELECT eventSeq + 1 FROM space WHERE id = :space)
WHERE key = :key AND (SELECT outcome = 'DONE' AND extra = 'CONSUMED' FROM decision);
INSERT INTO task (key, spaceId, sk, sessionId, kind, requested, dueAt)
  SELECT r.spaceId || '/' || r.kind || ':' || r.sessionId, r.spaceId, r.sk, r.sessionId, r.kind, :op, d.now
  FROM decision AS d JOIN task_trigger AS r ON r.raisedBy = :key
  WHERE d.outcome = 'DONE' AND r."trigger" = 'EVERY_N_TURNS'
    AND :completed AND r.turnCount % r.everyNTurns = 0
  ON CONFLICT (key) DO UPDATE SET requested = excluded.requested, dueAt = coalesce(dueAt, excluded.dueAt);
UPDATE topology_node SET turnCount = (SELECT turnCount FROM session WHERE key = :key), lastActiveAt = (SELECT now FROM decision)
WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT :consumedKey, :space, sp.eventSeq + 1, 'INSIGHT_CONSUMED', :id, :data, d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space AND d.outcome = 'DONE' AND d.extra = 'CONSUMED';
UPDATE space SET eventSeq = eventSeq + 1
  WHERE id = :space AND EXISTS (SELECT 1 FROM decision AS d WHERE d.outcome = 'DONE' AND d.extra = 'CONSUMED');
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, messageCount, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, 'TURN_ENDED', :id, :data, (SELECT messageCount FROM session WHERE key = :key), d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE space SET eventSeq = eventSeq + 1,
  inputTokens = inputTokens + json_extract(:callUsage, '$.inputTokens'),
  outputTokens = outputTokens + json_extract(:callUsage, '$.outputTokens'),
  cacheReadTokens = cacheReadTokens + json_extract(:callUsage, '$.cacheReadTokens'),
  cacheWriteTokens = cacheWriteTokens + json_extract(:callUsage, '$.cacheWriteTokens'),
  llmCalls = llmCalls + json_extract(:callUsage, '$.llmCalls')
  WHERE id = :space AND EXISTS (SELECT 1 FROM decision AS d WHERE d.outcome = 'DONE');
SELECT d.outcome, t.lastSeq + 1 - json_array_length(:messages) AS firstSeq, t.endedAt AS now,
  (SELECT count(*) FROM task AS k WHERE k.requested = :op
    AND k.key IN (s.spaceId || '/CONSOLIDATE:' || s.id, s.spaceId || '/INTEGRATE:' || s.rootId)) AS due,
  (SELECT document FROM turn_document WHERE key = :turnKey) AS turn
FROM decision AS d JOIN turn AS t ON t.key = :turnKey JOIN session AS s ON s.key = :key;
