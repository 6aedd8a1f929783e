-- purpose: A holder leaves a session; nothing happens where it was not in it.
-- access: write
-- params: key, holderKey, op
-- returns: outcome, due, session.*
-- json: tags
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT 'DONE', clock.now FROM clock JOIN holder AS h ON h.key = :holderKey WHERE h.sk = :key;
INSERT INTO task (key, spaceId, sk, sessionId, kind, requested, dueAt)
  SELECT r.spaceId || '/' || r.kind || ':' || r.sessionId, r.spaceId, r.sk, r.sessionId, r.kind, :op, d.now
  FROM decision AS d JOIN task_trigger AS r ON r.raisedBy = :key
  WHERE d.outcome = 'DONE' AND r."trigger" = 'ON_LEAVE'
  ON CONFLICT (key) DO UPDATE SET requested = excluded.requested, dueAt = coalesce(dueAt, excluded.dueAt);
DELETE FROM holder WHERE key = :holderKey AND sk = :key;
SELECT coalesce((SELECT outcome FROM decision), 'SAME') AS outcome, (SELECT count(*) FROM task AS k WHERE k.requested = :op
    AND k.key IN (s.spaceId || '/CONSOLIDATE:' || s.id, s.spaceId || '/INTEGRATE:' || s.rootId)) AS due, s.* FROM session AS s WHERE s.key = :key;
