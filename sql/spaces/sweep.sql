-- purpose: Deletes a part of what was in a deleted Space, at most so much of each kind, and the last of the Space once nothing is left.
--   Nothing before the delay is over: whoever still trusts a key of the Space sees all of it or nothing.
-- access: write
-- params: id, op, delay, limit
-- returns: outcome
-- unused: op, limit
DELETE FROM decision;
INSERT INTO decision (outcome, now)
  SELECT CASE WHEN clock.now < gone.deletedAt + :delay THEN 'WAIT' ELSE 'DONE' END, clock.now
  FROM clock LEFT JOIN deleted_space AS gone ON gone.id = :id;
DELETE FROM deleted_space WHERE id = :id AND (SELECT outcome FROM decision) = 'DONE';
SELECT outcome FROM decision;
