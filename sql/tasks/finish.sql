-- purpose: Gives a task back: done, unless it was asked for again since; with requested null it is due at once. No row where another holds it.
-- access: write
-- params: key, holder, requested
-- returns: due
UPDATE task SET dueAt = CASE WHEN requested = :requested THEN NULL ELSE (SELECT now FROM clock) END,
  failures = CASE WHEN :requested IS NULL THEN failures ELSE 0 END, holder = NULL, settledBy = :holder
WHERE key = :key AND holder = :holder;
SELECT dueAt IS NOT NULL AS due FROM task WHERE key = :key AND settledBy = :holder;
