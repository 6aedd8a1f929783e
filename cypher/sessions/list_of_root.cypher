// purpose: A page of the sessions of one tree, by key.
// access: read
// params: space, rootId, after, first, status, role, tag
// texts: many
// returns: session.*
MATCH (s:Session)
USING INDEX SEEK s:Session(spaceId, rootId, key)
WHERE s.spaceId = $space AND s.rootId = $rootId AND s.key > $after
  AND ($status IS NULL OR s.status = $status) AND ($role IS NULL OR s.role = $role)
  AND ($tag IS NULL OR $tag IN s.tags)
WITH s ORDER BY s.spaceId, s.rootId, s.key LIMIT $first
RETURN collect(s {.*}) AS rows
