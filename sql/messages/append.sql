-- purpose: Stores messages at the end of a transcript that no turn holds; where a place is expected, only if the transcript ends there.
-- access: write
-- params: space, key, id, op, eventKey, data, messages, expectedSeq, turns, idempotencyKey, inputHash
-- returns: outcome, turnId, firstSeq, lastSeq
-- unused: op
DELETE FROM decision;
INSERT INTO decision (outcome, now, seq)
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM topology_event WHERE key = :eventKey) THEN 'DONE_BEFORE'
    WHEN i.op = 'appendMessages' AND i.inputHash = :inputHash THEN 'JOINED'
    WHEN i.key IS NOT NULL THEN 'REUSED_KEY'
    WHEN s.status = 'ARCHIVED' THEN 'ARCHIVED'
    WHEN s.openTurnId IS NOT NULL THEN 'BUSY'
    WHEN s.nextSeq <> :expectedSeq THEN 'CONTINUED'
    ELSE 'DONE' END, clock.now,
    CASE WHEN i.op = 'appendMessages' AND i.inputHash = :inputHash
      THEN CAST(substr(i.resultId, 1, instr(i.resultId, '-') - 1) AS INTEGER)
      ELSE coalesce((SELECT json_extract(data, '$.firstSeq') FROM topology_event WHERE key = :eventKey), s.nextSeq) END
  FROM clock JOIN session AS s ON s.key = :key LEFT JOIN idempotency AS i ON i.key = :idempotencyKey;
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:messages))
INSERT INTO message (key, id, sessionId, role, content, parts, state, toolCalls, toolCallId, toolName, isError, model, usage, turnId, createdAt)
  SELECT json_extract(v.value, '$.key'), json_extract(v.value, '$.id'), json_extract(v.value, '$.sessionId'),
    json_extract(v.value, '$.role'), json_extract(v.value, '$.content'), json_extract(v.value, '$.parts'),
    json_extract(v.value, '$.state'), json_extract(v.value, '$.toolCalls'), json_extract(v.value, '$.toolCallId'),
    json_extract(v.value, '$.toolName'), json_extract(v.value, '$.isError'), json_extract(v.value, '$.model'),
    json_extract(v.value, '$.usage'), json_extract(v.value, '$.turnId'),
    coalesce(json_extract(v.value, '$.createdAt'), d.now)
  FROM decision AS d, v WHERE d.outcome = 'DONE'
  ON CONFLICT DO NOTHING;
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:messages))
INSERT INTO searchable (key, scope, terms)
  SELECT json_extract(v.value, '$.key'), 'MESSAGE', json_extract(v.value, '$.terms')
  FROM decision AS d, v WHERE d.outcome = 'DONE' AND json_extract(v.value, '$.terms') <> ''
  ON CONFLICT DO NOTHING;
INSERT INTO has_message (sk, seq, mk)
  SELECT :key, d.seq + v.key, json_extract(v.value, '$.key')
  FROM decision AS d, json_each(:messages) AS v WHERE d.outcome = 'DONE';
UPDATE session SET nextSeq = nextSeq + json_array_length(:messages),
  messageCount = messageCount + json_array_length(:messages), turnCount = turnCount + :turns,
  updatedAt = (SELECT now FROM decision), lastActiveAt = (SELECT now FROM decision),
  eventSeq = (SELECT eventSeq + 1 FROM space WHERE id = :space)
WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
UPDATE topology_node SET lastActiveAt = (SELECT now FROM decision),
  turnCount = (SELECT turnCount FROM session WHERE key = :key)
WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
INSERT INTO idempotency (key, sk, op, inputHash, resultId)
  SELECT :idempotencyKey, :key, 'appendMessages', :inputHash, seq || '-' || (seq + json_array_length(:messages) - 1)
  FROM decision WHERE outcome = 'DONE' AND :idempotencyKey IS NOT NULL;
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, messageCount, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, 'SESSION_UPDATED', :id, json_set(:data, '$.firstSeq', d.seq), (SELECT messageCount FROM session WHERE key = :key), d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE space SET eventSeq = eventSeq + 1
  WHERE id = :space AND EXISTS (SELECT 1 FROM decision AS d WHERE d.outcome = 'DONE');
SELECT d.outcome, s.openTurnId AS turnId, d.seq AS firstSeq, d.seq + json_array_length(:messages) - 1 AS lastSeq
FROM decision AS d JOIN session AS s ON s.key = :key;
