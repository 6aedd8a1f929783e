MATCH (s:Session)
USING INDEX SEEK s:Session(key)
WHERE s.key STARTS WITH $prefix
WITH s ORDER BY s.key LIMIT 500
RETURN collect(s {.id, .label, .status, .memory, .updatedAt}) AS rows
