// purpose: A page of the sessions of a Space, by key.
// access: read
// params: prefix, after, first, status, role, tag
// texts: many
// returns: session.*
MATCH (s:Session)
USING INDEX SEEK s:Session(key)
WHERE s.key > $after AND s.key < left($prefix, size($prefix) - 1) + '0'
  AND ($status IS NULL OR s.status = $status) AND ($role IS NULL OR s.role = $role)
  AND ($tag IS NULL OR $tag IN s.tags)
WITH s ORDER BY s.key LIMIT $first
RETURN collect(s {.*}) AS rows
