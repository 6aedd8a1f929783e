-- purpose: The oldest messages of each session after a place, each with whether another place has it too.
-- access: read
-- params: keys, after, before, first
-- texts: many
-- returns: key, messages
-- json: messages
SELECT k.value AS key, (
  SELECT json_group_array(json_object('seq', seq, 'id', id, 'sessionId', sessionId, 'role', role, 'content', content, 'parts', parts,
      'state', state, 'toolCalls', toolCalls, 'toolCallId', toolCallId, 'toolName', toolName, 'isError', isError, 'durationMs', durationMs,
      'model', model, 'usage', usage, 'turnId', turnId, 'createdAt', createdAt,
      'isShared', (SELECT count(*) FROM (SELECT 1 FROM has_message AS o WHERE o.mk = page.key LIMIT 2)) > 1))
  FROM (SELECT r.seq, m.* FROM has_message AS r JOIN message AS m ON m.key = r.mk
    WHERE r.sk = k.value AND r.seq > :after AND r.seq < :before ORDER BY r.seq LIMIT :first) AS page) AS messages
FROM json_each(:keys) AS k;
