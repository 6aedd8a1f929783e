-- purpose: A holder (a tab, a device) enters a session and leaves the one that it was in.
-- access: write
-- params: key, holderKey, op
-- returns: outcome, left, session.*
-- unused: op
-- json: tags
DELETE FROM decision;
INSERT INTO decision (outcome, now, extra)
  SELECT CASE s.status WHEN 'ACTIVE' THEN 'DONE' ELSE 'ARCHIVED' END, clock.now,
    (SELECT h.sk FROM holder AS h WHERE h.key = :holderKey AND h.sk <> :key)
  FROM clock JOIN session AS s ON s.key = :key;
INSERT INTO holder (key, sk, at)
  SELECT :holderKey, :key, now FROM decision WHERE outcome = 'DONE'
  ON CONFLICT (key) DO UPDATE SET sk = excluded.sk, at = excluded.at;
SELECT d.outcome, CASE d.outcome WHEN 'DONE' THEN d.extra END AS left, s.*
FROM decision AS d JOIN session AS s ON s.key = :key;
