-- purpose: What is found in labels, digests and messages, best first: labels before digests before messages, the newest first.
--   A scope whose expression is null is not asked. A shared message counts once: for the session that it was written in, else the oldest.
-- access: read
-- params: prefix, label, memory, message, exact, rootId, candidates, first
-- texts: many
-- returns: scope, score, sessionId, text, message
-- json: message
WITH matched AS (
  SELECT 'LABEL' AS scope, e.key, 3 + (e.terms = :exact) AS score, s.lastActiveAt AS at
  FROM (SELECT rowid FROM search_index WHERE :label IS NOT NULL AND search_index MATCH :label ORDER BY rowid DESC LIMIT :candidates) AS f
    JOIN searchable AS e ON e.id = f.rowid JOIN session AS s ON s.key = e.key
  WHERE substr(e.key, 1, length(:prefix)) = :prefix AND (:rootId IS NULL OR s.rootId = :rootId)
  UNION ALL
  SELECT 'MEMORY', e.key, 2, s.lastActiveAt
  FROM (SELECT rowid FROM search_index WHERE :memory IS NOT NULL AND search_index MATCH :memory ORDER BY rowid DESC LIMIT :candidates) AS f
    JOIN searchable AS e ON e.id = f.rowid JOIN session AS s ON s.key = e.key
  WHERE substr(e.key, 1, length(:prefix)) = :prefix AND (:rootId IS NULL OR s.rootId = :rootId)
  UNION ALL
  SELECT 'MESSAGE', e.key, 1, m.createdAt
  FROM (SELECT rowid FROM search_index WHERE :message IS NOT NULL AND search_index MATCH :message ORDER BY rowid DESC LIMIT :candidates) AS f
    JOIN searchable AS e ON e.id = f.rowid JOIN message AS m ON m.key = e.key
  WHERE substr(e.key, 1, length(:prefix)) = :prefix AND (:rootId IS NULL OR EXISTS (
    SELECT 1 FROM has_message AS r JOIN session AS s ON s.key = r.sk WHERE r.mk = m.key AND s.rootId = :rootId))
), best AS (
  SELECT * FROM matched ORDER BY score DESC, at DESC, key DESC LIMIT :first
), placed AS (
  SELECT b.*, CASE b.scope WHEN 'MESSAGE' THEN (
    SELECT r.sk FROM message AS m JOIN has_message AS r ON r.mk = m.key JOIN session AS s ON s.key = r.sk
    WHERE m.key = b.key AND (:rootId IS NULL OR s.rootId = :rootId)
    ORDER BY s.id <> m.sessionId, s.key LIMIT 1) ELSE b.key END AS sk
  FROM best AS b
)
SELECT p.scope, p.score, s.id AS sessionId,
  CASE p.scope WHEN 'LABEL' THEN s.label WHEN 'MEMORY' THEN s.memory END AS text,
  CASE p.scope WHEN 'MESSAGE' THEN (
    SELECT json_object('seq', r.seq, 'id', m.id, 'sessionId', m.sessionId, 'role', m.role, 'content', m.content, 'parts', m.parts,
      'state', m.state, 'toolCalls', m.toolCalls, 'toolCallId', m.toolCallId, 'toolName', m.toolName, 'isError', m.isError,
      'durationMs', m.durationMs, 'model', m.model, 'usage', m.usage, 'turnId', m.turnId, 'createdAt', m.createdAt)
    FROM message AS m JOIN has_message AS r ON r.mk = m.key AND r.sk = p.sk WHERE m.key = p.key LIMIT 1) END AS message
FROM placed AS p JOIN session AS s ON s.key = p.sk
ORDER BY p.score DESC, p.at DESC, p.key DESC;
