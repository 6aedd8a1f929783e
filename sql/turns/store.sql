-- purpose: Stores messages of a running turn in the middle of it, with its usage so far, and renews its lease.
-- access: write
-- params: key, turnKey, op, fence, lease, messages, usage, toolRounds, pendingToolCalls, confirmIds
-- returns: outcome, turn, firstSeq, now
-- json: turn
-- unused: op
DELETE FROM decision;
INSERT INTO decision (outcome, now, seq)
  SELECT CASE
    WHEN done.key IS NOT NULL THEN 'DONE_BEFORE'
    WHEN t.status <> 'RUNNING' OR t.fence <> :fence THEN 'LOST'
    ELSE 'DONE' END, coalesce(done.createdAt, clock.now), s.nextSeq
  FROM clock JOIN session AS s ON s.key = :key JOIN turn AS t ON t.key = :turnKey
    LEFT JOIN message AS done ON done.key = json_extract(:messages, '$[0].key');
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:messages))
INSERT INTO message (key, id, sessionId, role, content, parts, state, toolCalls, toolCallId, toolName, isError, durationMs, model, usage, turnId, createdAt)
  SELECT json_extract(v.value, '$.key'), json_extract(v.value, '$.id'), json_extract(v.value, '$.sessionId'),
    json_extract(v.value, '$.role'), json_extract(v.value, '$.content'), json_extract(v.value, '$.parts'),
    json_extract(v.value, '$.state'), json_extract(v.value, '$.toolCalls'), json_extract(v.value, '$.toolCallId'),
    json_extract(v.value, '$.toolName'), json_extract(v.value, '$.isError'), json_extract(v.value, '$.durationMs'),
    json_extract(v.value, '$.model'), json_extract(v.value, '$.usage'), json_extract(v.value, '$.turnId'), d.now
  FROM decision AS d, v WHERE d.outcome = 'DONE';
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:messages))
INSERT INTO searchable (key, scope, terms)
  SELECT json_extract(v.value, '$.key'), 'MESSAGE', json_extract(v.value, '$.terms')
  FROM decision AS d, v WHERE d.outcome = 'DONE' AND json_extract(v.value, '$.terms') <> '';
INSERT INTO has_message (sk, seq, mk)
  SELECT :key, d.seq + v.key, json_extract(v.value, '$.key')
  FROM decision AS d, json_each(:messages) AS v WHERE d.outcome = 'DONE';
UPDATE session SET nextSeq = nextSeq + json_array_length(:messages),
  messageCount = messageCount + json_array_length(:messages), lastActiveAt = (SELECT now FROM decision)
WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
UPDATE topology_node SET lastActiveAt = (SELECT now FROM decision)
WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
UPDATE turn SET lastSeq = (SELECT nextSeq - 1 FROM session WHERE key = :key), usage = :usage, toolRounds = :toolRounds,
  leaseUntil = (SELECT now FROM decision) + :lease, partial = '', partialRound = :toolRounds,
  pendingToolCalls = :pendingToolCalls, heldResults = NULL,
  confirmIds = (SELECT json_group_array(value) FROM (
    SELECT value FROM json_each(turn.confirmIds) UNION ALL SELECT value FROM json_each(:confirmIds)))
WHERE key = :turnKey AND (SELECT outcome FROM decision) = 'DONE';
SELECT d.outcome, t.lastSeq + 1 - json_array_length(:messages) AS firstSeq, d.now,
  (SELECT document FROM turn_document WHERE key = :turnKey) AS turn
FROM decision AS d JOIN turn AS t ON t.key = :turnKey;
