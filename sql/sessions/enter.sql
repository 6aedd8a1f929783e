-- purpose: A holder (a tab, a device) enters a session and leaves the one that it was in.
-- access: write
-- params: key, holderKey, op
-- returns: outcome, left, session.*
-- json: tags
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE s.status WHEN 'ACTIVE' THEN 'DONE' ELSE 'ARCHIVED' END, clock.now FROM clock JOIN session AS s ON s.key = :key;
INSERT INTO holder (key, sk, op, at)
  SELECT :holderKey, :key, :op, now FROM decision WHERE outcome = 'DONE'
  ON CONFLICT (key) DO UPDATE SET cameFrom = sk, sk = excluded.sk, op = excluded.op, at = excluded.at WHERE op <> excluded.op;
SELECT d.outcome, CASE WHEN d.outcome = 'DONE' AND h.cameFrom <> :key THEN h.cameFrom END AS left, s.*
FROM decision AS d JOIN session AS s ON s.key = :key LEFT JOIN holder AS h ON h.key = :holderKey;
