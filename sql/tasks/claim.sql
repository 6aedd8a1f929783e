-- purpose: Takes a task that is due, for the length of a lease; no row where it is not due, or is held.
-- access: write
-- params: key, op, lease
-- returns: requested, failures
UPDATE task SET holder = :op, dueAt = (SELECT now FROM clock) + :lease
WHERE key = :key AND dueAt <= (SELECT now FROM clock) AND (holder IS NULL OR holder <> :op);
SELECT requested, failures FROM task WHERE key = :key AND holder = :op;
