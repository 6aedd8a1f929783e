-- purpose: Creates a session and its node: a root, or an empty child. The parent is locked first, the Space last.
-- access: write
-- params: space, key, id, op, eventKey, data, labelTerms, parentKey, parentId, label, role, strategy, systemPrompt, skills, tags, metadata, overrides, idempotencyKey, inputHash
-- returns: outcome, session.*
-- unused: op
-- json: tags
DELETE FROM decision;
INSERT INTO decision (outcome, now, seq, extra)
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM topology_event WHERE key = :eventKey) THEN 'DONE_BEFORE'
    WHEN i.op = 'createSession' AND i.inputHash = :inputHash THEN 'JOINED'
    WHEN i.key IS NOT NULL THEN 'REUSED_KEY'
    WHEN EXISTS (SELECT 1 FROM session WHERE key = :key) THEN 'TAKEN'
    WHEN :parentKey IS NOT NULL AND p.key IS NULL THEN 'NO_PARENT'
    WHEN p.status = 'ARCHIVED' THEN 'ARCHIVED_PARENT'
    ELSE 'DONE' END, clock.now, coalesce(p.nextIndex, sp.nextRootIndex),
    CASE WHEN i.op = 'createSession' AND i.inputHash = :inputHash THEN :space || '/' || i.resultId ELSE :key END
  FROM clock JOIN space AS sp ON sp.id = :space
    LEFT JOIN idempotency AS i ON i.key = :idempotencyKey
    LEFT JOIN topology_node AS p ON p.key = :parentKey;
INSERT INTO session (key, spaceId, id, rootId, label, role, status, strategy, systemPrompt, skills, tags, metadata,
    overrideModel, overrideConsolidatePrompt, overrideIntegratePrompt, overrideCompressPrompt, overrideRoleContext,
    eventSeq, createdAt, updatedAt, lastActiveAt)
  SELECT :key, :space, :id, coalesce(p.rootId, :id), :label, :role, 'ACTIVE',
    coalesce(p.strategy, :strategy, sp.strategy, CASE :role WHEN 'MAIN' THEN 'FLAT' ELSE 'TREE' END),
    :systemPrompt, :skills, :tags, :metadata,
    json_extract(:overrides, '$.overrideModel'), json_extract(:overrides, '$.overrideConsolidatePrompt'),
    json_extract(:overrides, '$.overrideIntegratePrompt'), json_extract(:overrides, '$.overrideCompressPrompt'),
    json_extract(:overrides, '$.overrideRoleContext'), sp.eventSeq + 1, d.now, d.now, d.now
  FROM decision AS d JOIN space AS sp ON sp.id = :space LEFT JOIN topology_node AS p ON p.key = :parentKey
  WHERE d.outcome = 'DONE';
INSERT INTO topology_node (key, spaceId, id, parentId, parentKey, rootId, label, status, role, strategy, depth, "index",
    createdAt, lastActiveAt)
  SELECT :key, :space, :id, :parentId, coalesce(:parentKey, :space), s.rootId, :label, 'ACTIVE', :role, s.strategy,
    coalesce(p.depth + 1, 0), d.seq, d.now, d.now
  FROM decision AS d JOIN session AS s ON s.key = :key LEFT JOIN topology_node AS p ON p.key = :parentKey
  WHERE d.outcome = 'DONE';
INSERT INTO searchable (key, scope, terms)
  SELECT :key, 'LABEL', :labelTerms FROM decision WHERE outcome = 'DONE';
UPDATE topology_node SET nextIndex = nextIndex + 1, childCount = childCount + 1
  WHERE key = :parentKey AND (SELECT outcome FROM decision) = 'DONE';
INSERT INTO idempotency (key, sk, op, inputHash, resultId)
  SELECT :idempotencyKey, :key, 'createSession', :inputHash, :id FROM decision
  WHERE outcome = 'DONE' AND :idempotencyKey IS NOT NULL;
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, 'SESSION_CREATED', :id, :data, d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE space SET eventSeq = eventSeq + 1, sessionCount = sessionCount + 1,
  nextRootIndex = nextRootIndex + (:parentKey IS NULL)
  WHERE id = :space AND EXISTS (SELECT 1 FROM decision AS d WHERE d.outcome = 'DONE');
SELECT d.outcome, s.* FROM decision AS d LEFT JOIN session AS s ON s.key = d.extra;
