// purpose: How many sessions of a Space fit.
// access: read
// params: prefix, rootId, status, role, tag
// returns: count
MATCH (s:Session)
WHERE s.key STARTS WITH $prefix AND ($rootId IS NULL OR s.rootId = $rootId)
  AND ($status IS NULL OR s.status = $status) AND ($role IS NULL OR s.role = $role)
  AND ($tag IS NULL OR $tag IN s.tags)
WITH count(s) AS count
RETURN [{count: count}] AS rows
