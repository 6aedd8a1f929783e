-- purpose: Replaces the pending insights of several sessions, or of none: `insights` and `keys` are in the order of the keys.
-- access: write
-- params: space, op, eventKey, keys, insights
-- returns: outcome, session.*
-- unused: op
-- json: tags
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN EXISTS (SELECT 1 FROM topology_event WHERE key = :eventKey) THEN 'DONE_BEFORE'
    WHEN EXISTS (SELECT 1 FROM json_each(:keys) AS v LEFT JOIN session AS s ON s.key = v.value
      WHERE s.key IS NULL OR s.status = 'ARCHIVED') THEN 'REFUSED'
    ELSE 'DONE' END, clock.now
  FROM clock;
INSERT INTO topology_event (key, spaceId, seq, type, nodeId, data, at)
  SELECT json_extract(v.value, '$.eventKey'), :space, sp.eventSeq + 1 + v.key, 'INSIGHT_PUT', s.id, json_extract(v.value, '$.data'), d.now
  FROM decision AS d JOIN space AS sp ON sp.id = :space JOIN json_each(:insights) AS v
    JOIN session AS s ON s.key = json_extract(v.value, '$.key')
  WHERE d.outcome = 'DONE';
UPDATE session SET insight = json_extract(v.value, '$.content'), insightSource = json_extract(v.value, '$.source'),
  insightAt = d.now, insightRevision = insightRevision + 1, updatedAt = d.now, eventSeq = sp.eventSeq + 1 + v.key
FROM decision AS d, space AS sp, json_each(:insights) AS v
WHERE d.outcome = 'DONE' AND sp.id = :space AND session.key = json_extract(v.value, '$.key');
UPDATE space SET eventSeq = eventSeq + json_array_length(:insights)
  WHERE id = :space AND (SELECT outcome FROM decision) = 'DONE';
SELECT d.outcome, s.* FROM decision AS d JOIN json_each(:keys) AS v JOIN session AS s ON s.key = v.value;
