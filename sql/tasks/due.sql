-- purpose: Tasks of all Spaces that are due, the longest due first.
-- access: read
-- params: first
-- returns: spaceId, kind, sessionId
SELECT t.spaceId, t.kind, t.sessionId FROM task AS t WHERE t.dueAt <= (SELECT now FROM clock) ORDER BY t.dueAt LIMIT :first;
