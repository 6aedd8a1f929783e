-- purpose: Takes a Space away with its keys, at once; what was in it is reached by nobody any more, and swept later.
--   Here all that was in it goes in this transaction; what is swept later is its id.
-- access: write
-- params: id, op, expectedCount
-- returns: outcome, count
DELETE FROM decision;
INSERT INTO decision (outcome, now, seq)
  SELECT CASE
    WHEN gone.deletedBy = :op THEN 'DONE_BEFORE'
    WHEN sp.sessionCount <> :expectedCount THEN 'COUNT'
    ELSE 'DONE' END, clock.now, coalesce(sp.sessionCount, :expectedCount)
  FROM clock LEFT JOIN deleted_space AS gone ON gone.id = :id LEFT JOIN space AS sp ON sp.id = :id
  WHERE gone.deletedBy = :op OR sp.id IS NOT NULL;
DELETE FROM has_message
  WHERE sk IN (SELECT key FROM session WHERE spaceId = :id) AND (SELECT outcome FROM decision) = 'DONE';
DELETE FROM session WHERE spaceId = :id AND (SELECT outcome FROM decision) = 'DONE';
DELETE FROM record
  WHERE key >= :id || '/' AND key < :id || '0' AND (SELECT outcome FROM decision) = 'DONE';
DELETE FROM space WHERE id = :id AND (SELECT outcome FROM decision) = 'DONE';
INSERT INTO deleted_space (id, deletedBy, deletedAt) SELECT :id, :op, now FROM decision WHERE outcome = 'DONE';
SELECT outcome, seq AS count FROM decision;
