-- purpose: A holder (a tab, a device) enters a session and leaves the one that it was in.
-- access: write
-- params: key, holderKey, op
-- returns: outcome, left, due, session.*
-- json: tags
DELETE FROM decision;
INSERT INTO decision (outcome, now, extra)
  SELECT CASE s.status WHEN 'ACTIVE' THEN 'DONE' ELSE 'ARCHIVED' END, clock.now,
    CASE WHEN h.sk <> :key AND h.op <> :op THEN h.sk END
  FROM clock JOIN session AS s ON s.key = :key LEFT JOIN holder AS h ON h.key = :holderKey;
INSERT INTO task (key, spaceId, sk, sessionId, kind, requested, dueAt)
  SELECT r.spaceId || '/' || r.kind || ':' || r.sessionId, r.spaceId, r.sk, r.sessionId, r.kind, :op, d.now
  FROM decision AS d JOIN task_trigger AS r ON r.raisedBy = d.extra
  WHERE d.outcome = 'DONE' AND r."trigger" = 'ON_SWITCH'
  ON CONFLICT (key) DO UPDATE SET requested = excluded.requested, dueAt = coalesce(dueAt, excluded.dueAt);
INSERT INTO holder (key, sk, op, at)
  SELECT :holderKey, :key, :op, now FROM decision WHERE outcome = 'DONE'
  ON CONFLICT (key) DO UPDATE SET cameFrom = sk, sk = excluded.sk, op = excluded.op, at = excluded.at WHERE op <> excluded.op;
SELECT d.outcome, CASE WHEN d.outcome = 'DONE' AND h.cameFrom <> :key THEN h.cameFrom END AS left,
  (SELECT count(*) FROM session AS b JOIN task AS t ON t.key IN (b.spaceId || '/CONSOLIDATE:' || b.id, b.spaceId || '/INTEGRATE:' || b.rootId)
    WHERE b.key = h.cameFrom AND t.requested = :op) AS due, s.*
FROM decision AS d JOIN session AS s ON s.key = :key LEFT JOIN holder AS h ON h.key = :holderKey;
