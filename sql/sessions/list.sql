-- purpose: A page of the sessions of a Space, by key.
-- access: read
-- params: prefix, after, first, status, role, tag
-- texts: many
-- returns: session.*
-- json: tags
SELECT s.* FROM session AS s
WHERE s.key > :after AND s.key >= :prefix AND s.key < substr(:prefix, 1, length(:prefix) - 1) || '0'
  AND (:status IS NULL OR s.status = :status) AND (:role IS NULL OR s.role = :role)
  AND (:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(s.tags) AS t WHERE t.value = :tag))
ORDER BY s.key LIMIT :first;
