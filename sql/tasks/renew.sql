-- purpose: Prolongs the lease of a task; no row where another holds it by now.
-- access: write
-- params: key, holder, lease
-- returns: requested
UPDATE task SET dueAt = (SELECT now FROM clock) + :lease WHERE key = :key AND holder = :holder;
SELECT requested FROM task WHERE key = :key AND holder = :holder;
