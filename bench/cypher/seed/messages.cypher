MATCH (s:Session {key: $key})
SET s.messageCount = s.messageCount + size($rows), s.nextSeq = s.nextSeq + size($rows)
WITH s
UNWIND $rows AS row
CREATE (m:Message {key: row.key, id: row.id, sessionId: s.id, role: row.role, content: row.content,
  terms: row.terms, state: 'COMPLETE', isError: false, createdAt: row.at})
CREATE (s)-[:HAS_MESSAGE {sk: $key, seq: row.seq}]->(m)
