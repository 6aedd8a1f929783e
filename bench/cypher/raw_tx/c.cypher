MATCH (s:Session)
WHERE s.key STARTS WITH $prefix
RETURN s.id AS id, s.label AS label, s.status AS status, s.memory AS memory, s.updatedAt AS updatedAt
ORDER BY s.key
LIMIT 500
