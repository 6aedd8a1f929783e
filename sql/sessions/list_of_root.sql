-- purpose: A page of the sessions of one tree, by key.
-- access: read
-- params: space, rootId, after, first, status, role, tag
-- texts: many
-- returns: session.*
-- json: tags
SELECT s.* FROM session AS s
WHERE s.spaceId = :space AND s.rootId = :rootId AND s.key > :after
  AND (:status IS NULL OR s.status = :status) AND (:role IS NULL OR s.role = :role)
  AND (:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(s.tags) AS t WHERE t.value = :tag))
ORDER BY s.key LIMIT :first;
