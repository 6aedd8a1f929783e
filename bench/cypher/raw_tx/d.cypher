MATCH ()-[r:HAS_MESSAGE]->(m:Message)
USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
WHERE r.sk = $key AND r.seq > 0
RETURN m.id AS id, r.seq AS seq, m.role AS role, m.content AS content, m.createdAt AS createdAt
ORDER BY r.sk DESC, r.seq DESC
LIMIT 50
