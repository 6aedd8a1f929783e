MATCH ()-[r:HAS_MESSAGE]->(m:Message)
USING INDEX SEEK r:HAS_MESSAGE(sk, seq)
WHERE r.sk = $key AND r.seq > 0
WITH r, m ORDER BY r.sk DESC, r.seq DESC LIMIT 50
RETURN collect(m {.id, seq: r.seq, .role, .content, .createdAt}) AS rows
