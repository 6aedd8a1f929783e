-- purpose: Deletes a fork profile; NONE where there is none.
-- access: write
-- params: space, key, op
-- returns: outcome
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE
    WHEN instr(sp.receipts, :op) THEN 'DONE_BEFORE'
    WHEN n.key IS NULL THEN 'NONE'
    ELSE 'DONE' END, clock.now
  FROM clock JOIN space AS sp ON sp.id = :space LEFT JOIN fork_profile AS n ON n.key = :key;
DELETE FROM fork_profile WHERE key = :key AND (SELECT outcome FROM decision) = 'DONE';
UPDATE space SET receipts = substr(:op || ' ' || receipts, 1, 216)
  WHERE id = :space AND (SELECT outcome FROM decision) = 'DONE';
SELECT outcome FROM decision;
