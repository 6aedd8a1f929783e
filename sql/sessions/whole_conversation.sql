-- purpose: As conversation, with the whole transcript whatever was compressed.
-- access: read
-- params: space, key
-- returns: session.*, space, transcript
-- json: tags, space, transcript
SELECT s.*, json_object('id', sp.id, 'name', sp.name, 'config', sp.config, 'strategy', sp.strategy,
    'createdAt', sp.createdAt) AS space,
  (SELECT json_group_array(json_object('seq', seq, 'id', id, 'sessionId', sessionId, 'role', role, 'content', content, 'parts', parts,
      'state', state, 'toolCalls', toolCalls, 'toolCallId', toolCallId, 'toolName', toolName, 'isError', isError, 'durationMs', durationMs,
      'model', model, 'usage', usage, 'turnId', turnId, 'createdAt', createdAt))
    FROM (SELECT r.seq, m.* FROM has_message AS r JOIN message AS m ON m.key = r.mk
      WHERE r.sk = :key AND r.seq > 0 ORDER BY r.seq)) AS transcript
FROM session AS s JOIN space AS sp ON sp.id = :space WHERE s.key = :key;
