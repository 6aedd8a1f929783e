-- purpose: Creates an imported session with its messages and what it remembers; a fork may share its source's messages up to a place.
-- access: write
-- params: space, key, id, op, eventKey, data, labelTerms, type, parentKey, parentId, sourceKey, sourceId, throughSeq, label, role, status, systemPrompt, skills, tags, metadata, memory, memoryTerms, insight, synthesis, turnCount, messages, createdAt, updatedAt, lastActiveAt
-- returns: outcome
-- unused: op
DELETE FROM decision;
INSERT INTO decision (outcome, now, seq)
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM topology_event WHERE key = :eventKey) THEN 'DONE_BEFORE'
    WHEN EXISTS (SELECT 1 FROM session WHERE key = :key) THEN 'TAKEN'
    WHEN :parentKey IS NOT NULL AND p.key IS NULL THEN 'NO_PARENT'
    WHEN :sourceKey IS NOT NULL AND NOT EXISTS (SELECT 1 FROM session WHERE key = :sourceKey) THEN 'NO_PARENT'
    WHEN :throughSeq IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM has_message WHERE sk = :sourceKey AND seq = :throughSeq) THEN 'NO_CUT'
    ELSE 'DONE' END, clock.now, coalesce(:throughSeq, 0) + 1
  FROM clock JOIN space AS sp ON sp.id = :space LEFT JOIN topology_node AS p ON p.key = :parentKey;
INSERT INTO session (key, spaceId, id, rootId, label, role, status, strategy, systemPrompt, skills, tags, metadata,
    memory, memoryRevision, memorySeq, insight, insightAt, insightRevision, synthesis, synthesisRevision,
    turnCount, messageCount, nextSeq, eventSeq, createdAt, updatedAt, lastActiveAt)
  SELECT :key, :space, :id, coalesce(p.rootId, :id), :label, :role, :status,
    coalesce(p.strategy, CASE :role WHEN 'MAIN' THEN 'FLAT' ELSE 'TREE' END), :systemPrompt, :skills, :tags, :metadata,
    :memory, :memory IS NOT NULL, CASE WHEN :memory IS NOT NULL THEN sp.eventSeq + 1 END,
    :insight, CASE WHEN :insight IS NOT NULL THEN coalesce(:updatedAt, d.now) END, :insight IS NOT NULL,
    :synthesis, :synthesis IS NOT NULL, :turnCount,
    json_array_length(:messages) + (SELECT count(*) FROM has_message WHERE sk = :sourceKey AND seq <= :throughSeq),
    d.seq + json_array_length(:messages), sp.eventSeq + 1,
    coalesce(:createdAt, d.now), coalesce(:updatedAt, d.now), coalesce(:lastActiveAt, d.now)
  FROM decision AS d JOIN space AS sp ON sp.id = :space LEFT JOIN topology_node AS p ON p.key = :parentKey
  WHERE d.outcome = 'DONE';
INSERT INTO topology_node (key, spaceId, id, parentId, parentKey, rootId, label, status, role, strategy, depth, "index",
    turnCount, sourceSessionId, sourceSeq, createdAt, lastActiveAt)
  SELECT :key, :space, :id, :parentId, coalesce(:parentKey, :space), s.rootId, :label, :status, :role, s.strategy,
    coalesce(p.depth + 1, 0), coalesce(p.nextIndex, sp.nextRootIndex), :turnCount, :sourceId, :throughSeq,
    s.createdAt, s.lastActiveAt
  FROM decision AS d JOIN space AS sp ON sp.id = :space JOIN session AS s ON s.key = :key
    LEFT JOIN topology_node AS p ON p.key = :parentKey
  WHERE d.outcome = 'DONE';
UPDATE topology_node SET nextIndex = nextIndex + 1, childCount = childCount + 1
  WHERE key = :parentKey AND (SELECT outcome FROM decision) = 'DONE';
INSERT INTO has_message (sk, seq, mk)
  SELECT :key, r.seq, r.mk FROM has_message AS r
  WHERE r.sk = :sourceKey AND r.seq <= :throughSeq AND (SELECT outcome FROM decision) = 'DONE';
WITH v AS MATERIALIZED (SELECT key, value FROM json_each(:messages))
INSERT INTO incoming
  SELECT :key, d.seq + v.key,
    json_extract(v.value, '$.key'), json_extract(v.value, '$.id'), json_extract(v.value, '$.sessionId'),
    json_extract(v.value, '$.role'), json_extract(v.value, '$.content'), json_extract(v.value, '$.parts'),
    json_extract(v.value, '$.state'), json_extract(v.value, '$.toolCalls'), json_extract(v.value, '$.toolCallId'),
    json_extract(v.value, '$.toolName'), json_extract(v.value, '$.isError'), json_extract(v.value, '$.durationMs'),
    json_extract(v.value, '$.model'), json_extract(v.value, '$.usage'), json_extract(v.value, '$.turnId'),
    json_extract(v.value, '$.createdAt'), json_extract(v.value, '$.terms')
  FROM decision AS d, v WHERE d.outcome = 'DONE';
INSERT INTO message (key, id, sessionId, role, content, parts, state, toolCalls, toolCallId, toolName, isError, durationMs, model,
    usage, turnId, createdAt)
  SELECT key, id, sessionId, role, content, parts, state, toolCalls, toolCallId, toolName, isError, durationMs, model,
    usage, turnId, coalesce(createdAt, (SELECT s.createdAt FROM session AS s WHERE s.key = sk))
  FROM incoming WHERE true
  ON CONFLICT DO NOTHING;
INSERT INTO has_message (sk, seq, mk) SELECT sk, seq, key FROM incoming;
INSERT INTO searchable (key, scope, terms)
  SELECT :key, 'LABEL', :labelTerms FROM decision WHERE outcome = 'DONE'
  UNION ALL SELECT :key, 'MEMORY', :memoryTerms FROM decision WHERE outcome = 'DONE' AND :memoryTerms IS NOT NULL
  UNION ALL SELECT key, 'MESSAGE', terms FROM incoming WHERE terms <> ''
  ON CONFLICT DO NOTHING;
DELETE FROM incoming;
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, :type, :id, :data, d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE space SET eventSeq = eventSeq + 1, sessionCount = sessionCount + 1,
  nextRootIndex = nextRootIndex + (:parentKey IS NULL)
  WHERE id = :space AND EXISTS (SELECT 1 FROM decision AS d WHERE d.outcome = 'DONE');
SELECT outcome FROM decision;
