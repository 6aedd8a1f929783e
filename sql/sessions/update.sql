-- purpose: Changes the given fields of an active session; a label changes on its node as well.
-- access: write
-- params: space, key, id, op, eventKey, data, changes
-- returns: outcome, session.*
-- unused: op
-- json: tags
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM topology_event WHERE key = :eventKey) THEN 'DONE_BEFORE'
    WHEN s.status = 'ARCHIVED' THEN 'ARCHIVED'
    ELSE 'DONE' END, clock.now
  FROM clock JOIN session AS s ON s.key = :key;
UPDATE topology_node SET label = coalesce(json_extract(:changes, '$.label'), label)
  WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT :eventKey, :space, sp.eventSeq + 1, 'SESSION_UPDATED', :id, :data, d.now
  FROM decision AS d, space AS sp WHERE sp.id = :space AND d.outcome = 'DONE';
UPDATE space SET eventSeq = eventSeq + 1
  WHERE id = :space AND EXISTS (SELECT 1 FROM decision AS d WHERE d.outcome = 'DONE');
UPDATE session SET
  label = coalesce(json_extract(:changes, '$.label'), label),
  tags = coalesce(json_extract(:changes, '$.tags'), tags),
  systemPrompt = CASE WHEN json_type(:changes, '$.systemPrompt') IS NULL THEN systemPrompt ELSE json_extract(:changes, '$.systemPrompt') END,
  skills = CASE WHEN json_type(:changes, '$.skills') IS NULL THEN skills ELSE json_extract(:changes, '$.skills') END,
  metadata = CASE WHEN json_type(:changes, '$.metadata') IS NULL THEN metadata ELSE json_extract(:changes, '$.metadata') END,
  overrideModel = CASE WHEN json_type(:changes, '$.overrideModel') IS NULL THEN overrideModel ELSE json_extract(:changes, '$.overrideModel') END,
  overrideConsolidatePrompt = CASE WHEN json_type(:changes, '$.overrideConsolidatePrompt') IS NULL THEN overrideConsolidatePrompt ELSE json_extract(:changes, '$.overrideConsolidatePrompt') END,
  overrideIntegratePrompt = CASE WHEN json_type(:changes, '$.overrideIntegratePrompt') IS NULL THEN overrideIntegratePrompt ELSE json_extract(:changes, '$.overrideIntegratePrompt') END,
  overrideCompressPrompt = CASE WHEN json_type(:changes, '$.overrideCompressPrompt') IS NULL THEN overrideCompressPrompt ELSE json_extract(:changes, '$.overrideCompressPrompt') END,
  overrideRoleContext = CASE WHEN json_type(:changes, '$.overrideRoleContext') IS NULL THEN overrideRoleContext ELSE json_extract(:changes, '$.overrideRoleContext') END,
  updatedAt = (SELECT now FROM decision),
  eventSeq = (SELECT eventSeq FROM space WHERE id = :space)
WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
INSERT INTO searchable (key, scope, terms)
  SELECT :key, 'LABEL', json_extract(:changes, '$.labelTerms') FROM decision
  WHERE outcome = 'DONE' AND json_type(:changes, '$.labelTerms') = 'text'
  ON CONFLICT (key, scope) DO UPDATE SET terms = excluded.terms;
SELECT d.outcome, s.* FROM decision AS d JOIN session AS s ON s.key = :key;
