-- purpose: Sessions by key, each with its newest messages before a place, oldest first.
-- access: read
-- params: keys, after, before, first, roles
-- texts: many
-- returns: session.*, messages
-- json: tags, messages
SELECT s.*, (
  SELECT json_group_array(json_object('seq', seq, 'id', id, 'sessionId', sessionId, 'role', role, 'content', content, 'parts', parts,
      'state', state, 'toolCalls', toolCalls, 'toolCallId', toolCallId, 'toolName', toolName, 'isError', isError, 'durationMs', durationMs,
      'model', model, 'usage', usage, 'turnId', turnId, 'createdAt', createdAt))
  FROM (SELECT * FROM (SELECT r.seq, m.* FROM has_message AS r JOIN message AS m ON m.key = r.mk
    WHERE r.sk = s.key AND r.seq > :after AND r.seq < :before
      AND (:roles IS NULL OR m.role IN (SELECT value FROM json_each(:roles)))
    ORDER BY r.seq DESC LIMIT :first) ORDER BY seq)) AS messages
FROM json_each(:keys) AS k JOIN session AS s ON s.key = k.value;
