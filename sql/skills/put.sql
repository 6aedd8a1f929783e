-- purpose: Writes a skill; a new one comes last, and none where there are as many as the limit already.
-- access: write
-- params: space, key, id, op, description, content, limit
-- returns: outcome, id, description, content
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN instr(sp.receipts, :op) THEN 'DONE_BEFORE'
    WHEN old.key IS NULL AND (SELECT count(*) FROM skill WHERE spaceId = :space) >= :limit THEN 'FULL'
    ELSE 'DONE' END, clock.now
  FROM clock JOIN space AS sp ON sp.id = :space LEFT JOIN skill AS old ON old.key = :key;
INSERT INTO skill (key, spaceId, id, place, description, content)
  SELECT :key, :space, :id, sp.nextPlace, :description, :content FROM decision AS d JOIN space AS sp ON sp.id = :space
  WHERE d.outcome = 'DONE'
  ON CONFLICT (key) DO UPDATE SET description = excluded.description, content = excluded.content;
UPDATE space SET nextPlace = nextPlace + 1, receipts = substr(:op || ' ' || receipts, 1, 216)
  WHERE id = :space AND (SELECT outcome FROM decision) = 'DONE';
SELECT d.outcome, n.id, n.description, n.content FROM decision AS d LEFT JOIN skill AS n ON n.key = :key;
