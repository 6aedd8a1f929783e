-- purpose: How many sessions of a Space fit.
-- access: read
-- params: prefix, rootId, status, role, tag
-- returns: count
SELECT count(*) AS count FROM session AS s
WHERE s.key >= :prefix AND s.key < substr(:prefix, 1, length(:prefix) - 1) || '0'
  AND (:rootId IS NULL OR s.rootId = :rootId)
  AND (:status IS NULL OR s.status = :status) AND (:role IS NULL OR s.role = :role)
  AND (:tag IS NULL OR EXISTS (SELECT 1 FROM json_each(s.tags) AS t WHERE t.value = :tag));
