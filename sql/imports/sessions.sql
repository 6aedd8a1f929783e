-- purpose: Creates many sessions with messages of their own, all or none: roots, or children of nodes that are there already.
--   `parents` are in the order of the keys, each with the number of its new children; a session names its parent by the place there.
--   `transcripts` are in the order of the sessions.
-- access: write
-- params: space, op, eventKey, keys, parents, sessions, transcripts
-- returns: outcome
-- unused: op
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM topology_event WHERE key = :eventKey) THEN 'DONE_BEFORE'
    WHEN EXISTS (SELECT 1 FROM json_each(:keys) AS v JOIN session AS s ON s.key = v.value) THEN 'TAKEN'
    WHEN EXISTS (SELECT 1 FROM json_each(:parents) AS v LEFT JOIN topology_node AS p
      ON p.key = json_extract(v.value, '$.key') WHERE p.key IS NULL) THEN 'NO_PARENT'
    ELSE 'DONE' END, clock.now
  FROM clock JOIN space AS sp ON sp.id = :space;
-- MATERIALIZED, since json_each makes the text of a value anew wherever it is named.
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:sessions))
INSERT INTO session (key, spaceId, id, rootId, label, role, status, strategy, tags, metadata, turnCount, messageCount, nextSeq,
    eventSeq, createdAt, updatedAt, lastActiveAt)
  SELECT json_extract(v.value, '$.key'), :space, json_extract(v.value, '$.id'),
    coalesce(p.rootId, json_extract(v.value, '$.id')), json_extract(v.value, '$.label'), 'STANDARD',
    json_extract(v.value, '$.status'), coalesce(p.strategy, json_extract(v.value, '$.strategy'), sp.strategy, 'TREE'),
    json_extract(v.value, '$.tags'), json_extract(v.value, '$.metadata'), json_extract(v.value, '$.turnCount'),
    json_extract(v.value, '$.messageCount'), json_extract(v.value, '$.messageCount') + 1, sp.eventSeq + 1 + v.key,
    coalesce(json_extract(v.value, '$.createdAt'), d.now), coalesce(json_extract(v.value, '$.updatedAt'), d.now),
    coalesce(json_extract(v.value, '$.lastActiveAt'), d.now)
  FROM decision AS d JOIN space AS sp ON sp.id = :space JOIN v
    LEFT JOIN topology_node AS p ON p.key = json_extract(v.value, '$.parentKey')
  WHERE d.outcome = 'DONE';
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:sessions))
INSERT INTO topology_node (key, spaceId, id, parentId, parentKey, rootId, label, status, role, strategy, depth, "index",
    turnCount, sourceSessionId, createdAt, lastActiveAt)
  SELECT s.key, :space, s.id, p.id, coalesce(p.key, :space), s.rootId, s.label, s.status, 'STANDARD', s.strategy,
    coalesce(p.depth + 1, 0), coalesce(p.nextIndex, sp.nextRootIndex) + json_extract(v.value, '$.offset'), s.turnCount,
    json_extract(v.value, '$.sourceId'), s.createdAt, s.lastActiveAt
  FROM decision AS d JOIN space AS sp ON sp.id = :space JOIN v
    JOIN session AS s ON s.key = json_extract(v.value, '$.key')
    LEFT JOIN topology_node AS p ON p.key = json_extract(v.value, '$.parentKey')
  WHERE d.outcome = 'DONE';
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:parents))
UPDATE topology_node SET nextIndex = nextIndex + json_extract(v.value, '$.children'),
  childCount = childCount + json_extract(v.value, '$.children')
  FROM decision AS d, v
  WHERE d.outcome = 'DONE' AND topology_node.key = json_extract(v.value, '$.key');
-- To take a value out of JSON takes longer than to store it: it is done once.
WITH t AS MATERIALIZED (
    SELECT json_extract(value, '$.key') AS key, json_extract(value, '$.messages') AS messages FROM json_each(:transcripts)),
  m AS MATERIALIZED (
    SELECT t.key AS sk, one.key + 1 AS seq, one.value FROM decision AS d, t, json_each(t.messages) AS one WHERE d.outcome = 'DONE')
INSERT INTO incoming
  SELECT sk, seq,
    json_extract(m.value, '$.key'), json_extract(m.value, '$.id'), json_extract(m.value, '$.sessionId'),
    json_extract(m.value, '$.role'), json_extract(m.value, '$.content'), json_extract(m.value, '$.parts'),
    json_extract(m.value, '$.state'), json_extract(m.value, '$.toolCalls'), json_extract(m.value, '$.toolCallId'),
    json_extract(m.value, '$.toolName'), json_extract(m.value, '$.isError'), json_extract(m.value, '$.durationMs'),
    json_extract(m.value, '$.model'), json_extract(m.value, '$.usage'), json_extract(m.value, '$.turnId'),
    json_extract(m.value, '$.createdAt'), json_extract(m.value, '$.terms')
  FROM m;
INSERT INTO message (key, id, sessionId, role, content, parts, state, toolCalls, toolCallId, toolName, isError, durationMs, model,
    usage, turnId, createdAt)
  SELECT key, id, sessionId, role, content, parts, state, toolCalls, toolCallId, toolName, isError, durationMs, model,
    usage, turnId, coalesce(createdAt, (SELECT s.createdAt FROM session AS s WHERE s.key = sk))
  FROM incoming WHERE true
  ON CONFLICT DO NOTHING;
INSERT INTO has_message (sk, seq, mk) SELECT sk, seq, key FROM incoming;
-- All in one statement: the full-text index writes a segment for each.
INSERT INTO searchable (key, scope, terms)
  SELECT json_extract(v.value, '$.key'), 'LABEL', json_extract(v.value, '$.labelTerms')
  FROM decision AS d, json_each(:sessions) AS v WHERE d.outcome = 'DONE'
  UNION ALL SELECT key, 'MESSAGE', terms FROM incoming WHERE terms <> ''
  ON CONFLICT DO NOTHING;
DELETE FROM incoming;
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:sessions))
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT json_extract(v.value, '$.eventKey'), :space, sp.eventSeq + 1 + v.key, json_extract(v.value, '$.type'),
    json_extract(v.value, '$.id'), json_extract(v.value, '$.data'), d.now
  FROM decision AS d, space AS sp, v WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE space SET eventSeq = eventSeq + json_array_length(:sessions), sessionCount = sessionCount + json_array_length(:sessions),
  nextRootIndex = nextRootIndex + (SELECT count(*) FROM json_each(:sessions) AS v WHERE json_extract(v.value, '$.parentKey') IS NULL)
  WHERE id = :space AND EXISTS (SELECT 1 FROM decision AS d WHERE d.outcome = 'DONE');
SELECT outcome FROM decision;
