-- purpose: Writes a record, where its revision is the expected one (0: it is new) or where none is expected.
-- access: write
-- params: space, key, id, op, value, expectedRevision
-- returns: outcome, id, value, revision, updatedAt
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN instr(sp.receipts, :op) THEN 'DONE_BEFORE'
    WHEN :expectedRevision <> coalesce(old.revision, 0) THEN 'CHANGED'
    ELSE 'DONE' END, clock.now
  FROM clock JOIN space AS sp ON sp.id = :space LEFT JOIN record AS old ON old.key = :key;
INSERT INTO record (key, id, value, revision, updatedAt)
  SELECT :key, :id, :value, 1, now FROM decision WHERE outcome = 'DONE'
  ON CONFLICT (key) DO UPDATE SET value = excluded.value, revision = revision + 1, updatedAt = excluded.updatedAt;
UPDATE space SET receipts = substr(:op || ' ' || receipts, 1, 216)
  WHERE id = :space AND (SELECT outcome FROM decision) = 'DONE';
SELECT d.outcome, r.id, r.value, r.revision, r.updatedAt FROM decision AS d LEFT JOIN record AS r ON r.key = :key;
