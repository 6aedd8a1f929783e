-- purpose: Writes a shared memory; a new one comes last, and none where there are as many as the limit already.
-- access: write
-- params: space, key, id, op, summary, body, limit
-- returns: outcome, id, summary, body, updatedAt
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN instr(sp.receipts, :op) THEN 'DONE_BEFORE'
    WHEN old.key IS NULL AND (SELECT count(*) FROM shared_memory WHERE spaceId = :space) >= :limit THEN 'FULL'
    ELSE 'DONE' END, clock.now
  FROM clock JOIN space AS sp ON sp.id = :space LEFT JOIN shared_memory AS old ON old.key = :key;
INSERT INTO shared_memory (key, spaceId, id, place, summary, body, updatedAt)
  SELECT :key, :space, :id, sp.nextPlace, :summary, :body, d.now FROM decision AS d JOIN space AS sp ON sp.id = :space
  WHERE d.outcome = 'DONE'
  ON CONFLICT (key) DO UPDATE SET summary = excluded.summary, body = excluded.body, updatedAt = excluded.updatedAt;
UPDATE space SET nextPlace = nextPlace + 1, receipts = substr(:op || ' ' || receipts, 1, 216)
  WHERE id = :space AND (SELECT outcome FROM decision) = 'DONE';
SELECT d.outcome, n.id, n.summary, n.body, n.updatedAt FROM decision AS d LEFT JOIN shared_memory AS n ON n.key = :key;
